import { say } from "../parts/toasts.js";

/** What is copied: a field's value, or a list's lines. */
function words(from) {
  return from.value ?? [...from.children].map((line) => line.textContent).join("\n");
}

const button = document.querySelector("[data-copy]");
const from = document.querySelector("[data-copied]");
if (button && from && navigator.clipboard) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(words(from));
    say("Copied.", "success");
  });
}
