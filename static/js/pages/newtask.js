import "./form.js";
import { withBlock } from "../lib/filelist.js";
import { Drop } from "../parts/drop.js";
import { installSecrets } from "../parts/secrets.js";
import { installWhen } from "../parts/when.js";

const REST = 400;
const form = document.getElementById("launch");
const code = form.querySelector("[data-code]");
const checks = document.getElementById("field-checks");
let timer = 0;

const drop = new Drop({
  place: form.querySelector("[data-drop]"),
  input: form.querySelector("[data-files]"),
  list: form.querySelector("[data-attached]"),
  chip: document.getElementById("file-chip"),
  changed: soon,
});

/** The form as it is, without the bytes of files: only their names matter here. */
function described() {
  const fields = new FormData(form);
  fields.delete("files");
  for (const file of drop.files) fields.append("names", file.name);
  fields.set("show", "python");
  return fields;
}

/** What the server makes of the form: the call, and the checks in words. */
async function showCode() {
  let answer;
  try {
    answer = await fetch(form.action, { method: "POST", body: described(), headers: { "X-Fragment": "1" } });
  } catch {
    return;
  }
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const name of ["code", "explained"]) {
    const fresh = page.querySelector(`[data-live=${name}]`);
    if (fresh) form.querySelector(`[data-live=${name}]`).replaceWith(document.adoptNode(fresh));
  }
}

function soon() {
  clearTimeout(timer);
  if (code.open || checks.value.trim()) timer = setTimeout(showCode, REST);
}

form.addEventListener("input", soon);
code.addEventListener("toggle", soon);
form.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.name === "show") {
    event.preventDefault();
    showCode();
  } else if (button?.dataset.insert) {
    checks.value = withBlock(checks.value, `[[check]]\n${button.dataset.insert}`);
    checks.focus();
    soon();
  }
});

form.querySelector("[data-helpers]").hidden = false;
installWhen(form, soon);
installSecrets(form);
document.getElementById("errors")?.focus();
drop.start();
