import { sizeOf, unique } from "../lib/filelist.js";

/** Files that are chosen, dropped or pasted gather in one file input, and are listed with a way to take them out. */
export class Drop {
  constructor({ place, input, list, chip, changed }) {
    Object.assign(this, { place, input, list, chip, changed });
    this.files = [];
    this.depth = 0;
  }

  start() {
    this.input.addEventListener("change", () => this.add(this.input.files));
    this.place.addEventListener("dragenter", (event) => this.#over(event, 1));
    this.place.addEventListener("dragleave", (event) => this.#over(event, -1));
    this.place.addEventListener("dragover", (event) => {
      if (event.dataTransfer.types.includes("Files")) event.preventDefault();
    });
    this.place.addEventListener("drop", (event) => {
      this.#over(event, -this.depth);
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      this.add(event.dataTransfer.files);
    });
    document.addEventListener("paste", (event) => {
      if (!event.clipboardData?.files.length) return;
      event.preventDefault();
      this.add(event.clipboardData.files);
    });
  }

  add(files) {
    const taken = new Set(this.files.map((file) => file.name));
    for (const file of files) {
      const name = unique(file.name, taken);
      taken.add(name);
      this.files.push(name === file.name ? file : new File([file], name, { type: file.type }));
    }
    this.#show();
  }

  #over(event, step) {
    if (!event.dataTransfer.types.includes("Files")) return;
    this.depth = Math.max(0, this.depth + step);
    this.place.classList.toggle("over", this.depth > 0);
  }

  #show() {
    const held = new DataTransfer();
    for (const file of this.files) held.items.add(file);
    this.input.files = held.files;
    for (const old of this.list.querySelectorAll("[data-fresh]")) old.remove();
    this.list.append(...this.files.map((file) => this.#line(file)));
    this.list.hidden = !this.list.children.length;
    this.changed();
  }

  #line(file) {
    const line = this.chip.content.firstElementChild.cloneNode(true);
    line.dataset.fresh = "";
    line.querySelector("[data-name]").textContent = file.name;
    line.querySelector("[data-size]").textContent = sizeOf(file.size);
    const remove = line.querySelector("[data-remove]");
    remove.setAttribute("aria-label", `Take out ${file.name}`);
    remove.addEventListener("click", () => {
      this.files = this.files.filter((other) => other !== file);
      this.#show();
      this.input.focus();
    });
    return line;
  }
}
