/** More rows for names and values. */
export function installSecrets(root) {
  const rows = root.querySelector("[data-secrets]");
  const more = root.querySelector("[data-add-secret]");
  if (!rows || !more) return;
  more.hidden = false;
  more.addEventListener("click", () => {
    const number = rows.children.length;
    const row = rows.firstElementChild.cloneNode(true);
    for (const input of row.querySelectorAll("input")) {
      input.id = input.id.replace(/\d+$/, number);
      input.value = "";
    }
    for (const label of row.querySelectorAll("label")) label.htmlFor = label.htmlFor.replace(/\d+$/, number);
    rows.append(row);
    row.querySelector("input").focus();
  });
}
