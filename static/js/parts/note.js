import { isSendChord } from "../lib/keyguard.js";
import { Refused, post } from "../lib/post.js";
import { say, sayAll } from "./toasts.js";

async function send(form) {
  const { id, value } = form.elements.text;
  form.elements.text.value = "";
  try {
    const answer = await post(form.action, { text: value });
    sayAll(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const field = document.getElementById(id);
    if (field && !field.value) field.value = value;
    say(error.words("It was not sent: the server does not answer as it should."), "error");
  }
}

/** Words to the agent: Ctrl+Enter sends them, and what could not be sent comes back. */
export function installNotes() {
  document.addEventListener("keydown", (event) => {
    const form = isSendChord(event) && event.target.closest("[data-note-form]");
    if (!form) return;
    event.preventDefault();
    if (!event.repeat) form.requestSubmit();
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-note-form]")) return;
    event.preventDefault();
    send(event.target);
  });
}
