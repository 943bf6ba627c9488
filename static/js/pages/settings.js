import "./form.js";

const state = document.querySelector("[data-notify-state]");
const words = {
  denied: "This browser has been told not to show notifications of this site: allow them in its settings.",
  missing: "This browser cannot show notifications of this site; they need https or localhost.",
};

/** The browser asks only when a person does something, so it is asked when the box is ticked. */
async function ask(event) {
  const box = event.target;
  if (!box.checked) return;
  if (!("Notification" in globalThis)) {
    box.checked = false;
    state.textContent = words.missing;
    return;
  }
  const answer = await Notification.requestPermission();
  if (answer === "granted") return;
  box.checked = false;
  state.textContent = words.denied;
}

for (const box of document.querySelectorAll("[data-notify-choice]")) box.addEventListener("change", ask);
document.getElementById("errors")?.focus();
