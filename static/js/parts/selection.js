const BOXES = "input[name=machine]";

/** Which machines are ticked: counted, kept over live updates, all or none at once. */
export class Selection {
  constructor() {
    this.chosen = new Set();
    document.addEventListener("change", (event) => {
      if (event.target.matches?.(BOXES)) this.#read();
    });
    document.addEventListener("click", (event) => {
      if (event.target.closest?.("[data-select-all]")) this.#set(true);
      else if (event.target.closest?.("[data-select-none]")) this.#set(false);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.chosen.size && !document.querySelector("dialog[open]")) this.#set(false);
    });
    document.addEventListener("live:refreshed", () => this.#restore());
    this.#read();
  }

  toggle(id) {
    const box = document.getElementById(`pick-${id}`);
    if (!box) return;
    box.checked = !box.checked;
    this.#read();
  }

  #boxes() {
    return [...document.querySelectorAll(BOXES)].filter((box) => box.type === "checkbox");
  }

  #read() {
    this.chosen = new Set(this.#boxes().flatMap((box) => (box.checked ? [box.value] : [])));
    this.#tell();
  }

  #set(checked) {
    for (const box of this.#boxes()) box.checked = checked;
    this.#read();
  }

  #restore() {
    for (const box of this.#boxes()) box.checked = this.chosen.has(box.value);
    this.#read();
  }

  #tell() {
    const { size } = this.chosen;
    for (const place of document.querySelectorAll("[data-selected]")) place.textContent = `${size} selected`;
    for (const button of document.querySelectorAll("[data-select-all], [data-select-none]")) button.hidden = false;
  }
}
