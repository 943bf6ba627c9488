import { Refused, post } from "../lib/post.js";
import { say } from "./toasts.js";

/** The choice shows at once and is remembered by the server, so that the next page starts in it. */
export function installTheme() {
  for (const form of document.querySelectorAll("[data-theme-form]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      choose(form, event.submitter.value);
    });
  }
}

async function choose(form, theme) {
  document.documentElement.dataset.theme = theme;
  for (const button of form.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
  try {
    await post(form.action, { theme, next: "/healthz" });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    say("The theme is not remembered: the server does not answer.", "error");
  }
}
