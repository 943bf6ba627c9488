import { clock } from "../../lib/trace-words.js";
import { find } from "./dom.js";

/** The range below the screen, and the ticks above it: errors, people, forks and hits. */
export class Scrubber {
  constructor(model, film, { hits, say }) {
    Object.assign(this, { model, film, hits });
    this.range = find("scrub");
    this.canvas = find("ticks");
    this.peek = find("peek");
    this.say = say;
    this.range.disabled = false;
    this.range.addEventListener("input", () => model.go(Number(this.range.value) - 1));
    for (const type of ["step", "cards", "path", "window"]) model.addEventListener(type, () => this.paint());
    for (const type of ["path", "window"]) model.addEventListener(type, () => this.paintTicks());
    new ResizeObserver(() => this.paintTicks()).observe(this.canvas);
    this.#installPeek();
    this.paint();
  }

  /** Under the pointer, and at the thumb for whoever comes by keyboard. Escape puts it away until one comes again. */
  #installPeek() {
    const { range, peek } = this;
    range.addEventListener("pointermove", (event) => {
      const box = range.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left - 8) / (box.width - 16)));
      if (event.pointerType !== "touch" && !this.dismissed) this.#preview(share);
    });
    const atThumb = () => range.matches(":focus-visible") && this.#preview(this.model.index / (this.model.path.length - 1 || 1));
    for (const type of ["focus", "input"]) range.addEventListener(type, atThumb);
    for (const type of ["pointerleave", "blur"]) {
      range.addEventListener(type, () => {
        peek.hidden = true;
        this.dismissed = false;
      });
    }
    const dismiss = (event) => {
      if (event.key !== "Escape" || peek.hidden) return;
      event.stopImmediatePropagation();
      peek.hidden = this.dismissed = true;
    };
    document.addEventListener("keydown", dismiss, { capture: true });
  }

  paint() {
    const { model, range } = this;
    const { card, number } = model;
    range.max = model.path.length;
    range.value = number;
    range.setAttribute("aria-valuetext", this.say(number, model.path.length, card));
    const at = clock(card?.at);
    find("at").textContent = `${number} / ${model.path.length}${at ? ` · ${at}` : ""}`;
    for (const [name, off] of [["previous", model.index === model.first], ["next", model.index === model.last]]) {
      document.querySelector(`[data-go="${name}"]`)?.setAttribute("aria-disabled", String(off));
    }
  }

  paintTicks() {
    const { path } = this.model;
    const width = (this.canvas.width = this.canvas.clientWidth * devicePixelRatio);
    const height = (this.canvas.height = this.canvas.clientHeight * devicePixelRatio);
    const context = this.canvas.getContext("2d");
    const colour = (name) => {
      this.canvas.style.color = `var(${name})`;
      return getComputedStyle(this.canvas).color;
    };
    const place = (index) => (path.length > 1 ? (index / (path.length - 1)) * (width - 2) : 0);
    const tick = (index, tall) => context.fillRect(place(index), height * (1 - tall), 2 * devicePixelRatio, height * tall);
    if (this.model.window) {
      context.fillStyle = colour("--accent-soft");
      context.fillRect(place(this.model.first), 0, place(this.model.last) - place(this.model.first), height);
    }
    context.fillStyle = colour("--ink-3");
    for (const index of path.forks) tick(index, 0.5);
    context.fillStyle = colour("--human");
    for (const index of path.people) tick(index, 0.7);
    context.fillStyle = colour("--fail");
    path.codes.forEach((_, index) => path.isError(index) && tick(index, 0.8));
    context.fillStyle = colour("--accent");
    path.seqs.forEach((seq, index) => this.hits.has(seq) && tick(index, 1));
  }

  #preview(share) {
    const { path } = this.model;
    const width = this.range.clientWidth;
    const index = Math.round(share * (path.length - 1));
    this.film.cut(this.peek.querySelector(".peek-shot"), index, 232);
    this.peek.querySelector("p").textContent = `${index + 1} · ${this.model.cardAt(index)?.text ?? ""}`;
    this.peek.style.left = `${Math.min(Math.max(0, 8 + share * (width - 16) - 124), width - 248)}px`;
    this.peek.hidden = false;
  }
}
