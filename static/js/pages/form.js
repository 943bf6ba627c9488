import { isSendChord } from "../lib/keyguard.js";

const sent = new Set();

/** The form one is in; the page's own where one is in none. */
function formAt(element) {
  const around = element.form ?? element.closest("form");
  const found = around ?? document.querySelector("form[data-submit-keys]");
  return found?.matches("[data-submit-keys]") ? found : null;
}

document.addEventListener("keydown", (event) => {
  const form = isSendChord(event) && formAt(event.target);
  if (!form) return;
  event.preventDefault();
  if (!event.repeat) form.requestSubmit();
});

/** Once: what is on its way may cost money, and a second one would cost it again. */
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (sent.has(form)) event.preventDefault();
  sent.add(form);
  for (const button of form.querySelectorAll("button:not([name])")) button.disabled = true;
});

addEventListener("pageshow", () => {
  sent.clear();
  for (const button of document.querySelectorAll("form button:disabled")) button.disabled = false;
});
