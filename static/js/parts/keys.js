import { mayAct } from "../lib/keyguard.js";
import { Sequence } from "../lib/sequence.js";

/** What the page itself has for it comes before what is around every page. */
function byKey(name) {
  const found = [...document.querySelectorAll("[data-key]")].filter(
    (element) => element.dataset.key === name && ("anywhere" in element.dataset || element.checkVisibility()),
  );
  return found.find((element) => element.closest("main")) ?? found[0];
}

/** Every `data-key` element acts on its key, as if it had been clicked, and a field gets the cursor; `?` opens the sheet. */
export function installKeys() {
  if (document.body.dataset.keys === "off") return;
  const sequence = new Sequence(["g"]);
  document.addEventListener("keydown", (event) => {
    if (!mayAct(event)) return;
    const name = sequence.press(event.key, event.timeStamp);
    const target = name && byKey(name);
    if (name === "?") document.getElementById("keys").showModal();
    else if (target?.matches("input, textarea")) target.focus();
    else if (target) target.click();
    else return;
    event.preventDefault();
  });
}
