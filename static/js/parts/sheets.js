/**
 * A link with `data-opens-sheet` leads to a page; the part of it that is marked `data-sheet` opens in place, in a dialog.
 * One with `data-from-step` leads to that page about the step that is looked at.
 */
export function installSheets() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-opens-sheet]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const address = addressOf(link);
    open(address).catch(() => location.assign(address));
  });
  document.addEventListener("keydown", (event) => {
    const form = event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.closest("dialog.sheet form");
    if (!form) return;
    event.preventDefault();
    form.requestSubmit();
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.closest("dialog.sheet")) return;
    for (const button of event.target.querySelectorAll("button")) button.disabled = true;
  });
}

function addressOf(link) {
  const address = new URL(link.href);
  const step = document.querySelector("[data-tree-panel]")?.dataset.lookedAt;
  if ("fromStep" in link.dataset && step) address.searchParams.set("step", step);
  return address.href;
}

async function open(address) {
  if (document.querySelector("dialog[open]")) return;
  const answer = await fetch(address, { headers: { "X-Fragment": "1" }, cache: "no-store" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const sheet = answer.ok && page.querySelector("[data-sheet]");
  if (!sheet) throw new Error(`${address} has no sheet`);
  const dialog = document.createElement("dialog");
  dialog.className = "sheet";
  dialog.setAttribute("aria-labelledby", "sheet-title");
  dialog.append(...document.adoptNode(sheet).childNodes);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector("textarea")?.focus();
}
