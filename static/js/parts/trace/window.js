import { find } from "./dom.js";

const MOVED = 8;

/** A part of the path to stay in: dragged over the film, or from one number to another. */
export class Range {
  constructor(model, film) {
    Object.assign(this, { model, film });
    this.bar = find("window");
    this.button = find("window-open");
    this.fields = [find("from", this.bar), find("to", this.bar)];
    this.button.hidden = false;
    this.button.addEventListener("click", () => this.#toggle());
    find("window-clear", this.bar).addEventListener("click", () => this.clear());
    this.bar.addEventListener("change", () => this.#typed());
    film.box.addEventListener("pointerdown", (event) => this.#press(event));
    film.box.addEventListener("dblclick", () => this.clear());
    for (const type of ["window", "path"]) model.addEventListener(type, () => this.paint());
    this.#read();
    this.paint();
  }

  get active() {
    return Boolean(this.model.window);
  }

  clear() {
    this.bar.hidden = true;
    this.model.choose();
    this.paint();
  }

  paint() {
    const { model, bar, fields } = this;
    if (model.window) bar.hidden = false;
    this.button.setAttribute("aria-expanded", String(!bar.hidden));
    for (const field of fields) field.max = model.path.length;
    [fields[0].value, fields[1].value] = [model.first + 1, model.last + 1];
    for (const link of bar.querySelectorAll("[data-range-to]")) {
      const query = { branch: model.path.branch, first: model.first + 1, last: model.last + 1 };
      link.href = `${link.dataset.rangeTo}?${new URLSearchParams(query)}`;
    }
  }

  #toggle() {
    if (!this.bar.hidden) return this.clear();
    this.bar.hidden = false;
    this.paint();
    return this.fields[0].focus();
  }

  #read() {
    const [first, last] = (new URLSearchParams(location.search).get("window") ?? "").split("-").map(Number);
    if (first && last) this.model.choose(first - 1, last - 1);
  }

  #typed() {
    const [from, to] = this.fields.map((field) => Math.round(Number(field.value)));
    if (from >= 1 && to >= 1) this.model.choose(from - 1, to - 1);
    this.paint();
  }

  #press(down) {
    if (down.button !== 0 || down.pointerType === "touch") return;
    const { box } = this.film;
    const from = this.film.placeAt(down.clientX);
    let dragged = false;
    const move = (event) => {
      dragged ||= Math.abs(event.clientX - down.clientX) > MOVED;
      if (!dragged) return;
      const { left, right } = box.getBoundingClientRect();
      box.scrollLeft += Math.max(0, event.clientX - right) - Math.max(0, left - event.clientX);
      this.model.choose(from, this.film.placeAt(event.clientX));
    };
    const up = () => {
      removeEventListener("pointermove", move);
      if (dragged) addEventListener("click", stop, { capture: true, once: true });
      setTimeout(() => removeEventListener("click", stop, { capture: true }), 0);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up, { once: true });
    addEventListener("pointercancel", up, { once: true });
  }
}

/** A drag that ends on a tile is no click on it. */
function stop(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** The film by steps or by time; `remembered` is what was chosen before. */
export function installPace(film, { remembered, remember }) {
  const group = find("paces");
  const buttons = [...group.querySelectorAll("button")];
  const choose = (wanted) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.pace === wanted));
    film.pace(wanted === "time");
  };
  group.hidden = false;
  group.addEventListener("click", (event) => {
    const wanted = event.target.closest("button")?.dataset.pace;
    if (!wanted) return;
    choose(wanted);
    remember(wanted);
  });
  if (remembered === "time") choose("time");
}
