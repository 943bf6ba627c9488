/** Links that have a page of their own open a dialog in place; menus close when one looks elsewhere. */
export function installDialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    const dialog = opener && document.getElementById(opener.dataset.opens);
    if (dialog) {
      event.preventDefault();
      dialog.showModal();
    }
    const closer = event.target.closest("dialog [data-closes]");
    if (closer) {
      event.preventDefault();
      closer.closest("dialog").close();
    }
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && event.target.closest("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
