import { inView } from "../../lib/trace-pace.js";
import { clock } from "../../lib/trace-words.js";
import { calmly, find, icon, make } from "./dom.js";

const TILE = 144;
const WIDTH = 136;
const GAP = 8;

/** All steps of the path as small pictures. Only those in view exist; their pictures come fifty on a sheet. */
export class Film {
  constructor(model, { hits }) {
    Object.assign(this, { model, hits });
    this.box = find("film");
    this.list = find("tiles");
    this.tiles = new Map();
    this.versions = new Map();
    this.wordless = new Set();
    this.#install();
    this.#another();
  }

  #install() {
    this.box.addEventListener("scroll", () => this.paint(), { passive: true });
    new ResizeObserver(() => this.paint()).observe(this.box);
    this.model.addEventListener("path", () => this.#another());
    this.model.addEventListener("cards", () => this.#caption());
    this.model.addEventListener("step", () => this.#moved());
    this.list.addEventListener("click", (event) => {
      const tile = event.target.closest("[data-index]");
      if (!tile || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.model.go(Number(tile.dataset.index));
    });
    this.wish = calmly(() => this.#fetch(), 60);
  }

  /** A sheet with a step that was still open is asked for again. */
  refresh(seqs) {
    for (const seq of seqs) {
      const index = this.model.path.indexOf(seq);
      if (index >= 0) this.versions.set(this.#sheetOf(index), this.model.revision);
    }
    this.repaint();
  }

  repaint() {
    for (const index of [...this.tiles.keys()]) this.#remove(index);
    this.paint();
  }

  paint() {
    const { scrollLeft: left, clientWidth: width } = this.box;
    const { start, end } = inView({ left, width, tile: TILE, count: this.model.path.length });
    for (const index of [...this.tiles.keys()]) if (index < start || index >= end) this.#remove(index);
    for (let index = start; index < end; index += 1) {
      if (!this.tiles.has(index)) this.#add(index);
    }
    this.wish();
  }

  /** Shows a tile's part of its sheet, so many pixels wide. */
  cut(element, index, shown = WIDTH) {
    const { tiles, columns, width, height } = this.model.sheet;
    const place = index % tiles;
    const scale = shown / width;
    const sheet = this.#sheetOf(index);
    element.style.backgroundImage = `url("${this.#url(sheet)}")`;
    element.style.backgroundSize = `${columns * width * scale}px auto`;
    const [x, y] = [(place % columns) * width * scale, Math.floor(place / columns) * height * scale];
    element.style.backgroundPosition = `-${x}px -${y}px`;
  }

  #another() {
    this.versions.clear();
    this.list.style.width = `${this.model.path.length * TILE + GAP}px`;
    this.#reveal();
    this.repaint();
  }

  #reveal() {
    const left = this.model.index * TILE;
    const { scrollLeft, clientWidth } = this.box;
    if (left < scrollLeft + GAP || left + TILE > scrollLeft + clientWidth - GAP) {
      this.box.scrollLeft = left - clientWidth / 2 + TILE / 2;
    }
  }

  #moved() {
    const focused = this.list.contains(document.activeElement);
    this.#reveal();
    const old = this.list.querySelector("[aria-current]");
    if (old) {
      old.removeAttribute("aria-current");
      old.tabIndex = -1;
    }
    this.paint();
    const now = this.tiles.get(this.model.index)?.querySelector("a");
    now?.setAttribute("aria-current", "step");
    if (now) now.tabIndex = 0;
    if (focused) now?.focus({ preventScroll: true });
  }

  #fetch() {
    const places = [...this.tiles.keys()];
    for (const index of [places[0], places.at(-1)]) if (index !== undefined) this.model.need(index);
  }

  #remove(index) {
    this.tiles.get(index).remove();
    this.tiles.delete(index);
    this.wordless.delete(index);
  }

  /** Tiles that were drawn before their steps were known get their words. */
  #caption() {
    for (const index of [...this.wordless]) {
      if (!this.model.cardAt(index)) continue;
      this.#remove(index);
      this.#add(index);
    }
  }

  #add(index) {
    const { model } = this;
    const card = model.cardAt(index);
    if (!card) this.wordless.add(index);
    const shot = make("span", { className: "tile-shot" });
    this.cut(shot, index);
    const text = card ? `${index + 1} · ${card.text}` : `${index + 1}`;
    const link = make(
      "a",
      { href: `?step=${model.path.seqs[index]}`, "data-index": index, tabindex: -1, title: card?.text ?? "" },
      shot,
      make("span", { className: "tile-text clip", text }),
      this.#signs(index),
    );
    if (index === model.index) {
      link.setAttribute("aria-current", "step");
      link.tabIndex = 0;
    }
    const tile = make("li", { className: "tile", value: index + 1 }, link);
    tile.style.left = `${GAP + index * TILE}px`;
    this.tiles.set(index, tile);
    this.list.append(tile);
  }

  #signs(index) {
    const { path } = this.model;
    const signs = make("span", { className: "tile-sign" });
    const put = (wanted, tone, name, word) => {
      if (wanted) signs.append(make("span", { className: tone }, icon(name), make("span", { className: "unseen", text: word })));
    };
    put(this.hits.has(path.seqs[index]), "hit", "search", "found");
    put(path.forks.has(index), "fork", "git-branch", "branches begin here");
    put(path.people.has(index), "human", "hand", "a person");
    put(path.isError(index), "fail", "x", "went wrong");
    return signs;
  }

  #sheetOf(index) {
    return Math.floor(index / this.model.sheet.tiles);
  }

  #url(number) {
    const { path, sheet, source } = this.model;
    const start = number * sheet.tiles;
    const last = Math.min(start + sheet.tiles, path.length) - 1;
    return source.sheet({
      branch: path.branch,
      first: path.seqs[start],
      last: path.seqs[last],
      version: this.versions.get(number),
      number,
    });
  }
}

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
    for (const type of ["step", "cards", "path"]) model.addEventListener(type, () => this.paint());
    model.addEventListener("path", () => this.paintTicks());
    new ResizeObserver(() => this.paintTicks()).observe(this.canvas);
    this.range.addEventListener("pointermove", (event) => this.#preview(event));
    this.range.addEventListener("pointerleave", () => (this.peek.hidden = true));
    this.paint();
  }

  paint() {
    const { model, range } = this;
    const { card, number } = model;
    range.max = model.path.length;
    range.value = number;
    range.setAttribute("aria-valuetext", this.say(number, model.path.length, card));
    const at = clock(card?.at);
    find("at").textContent = `${number} / ${model.path.length}${at ? ` · ${at}` : ""}`;
    for (const [name, off] of [["previous", model.index === 0], ["next", number === model.path.length]]) {
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
    const tick = (index, tall) => {
      const x = path.length > 1 ? (index / (path.length - 1)) * (width - 2) : 0;
      context.fillRect(x, height * (1 - tall), 2 * devicePixelRatio, height * tall);
    };
    context.fillStyle = colour("--ink-3");
    for (const index of path.forks) tick(index, 0.5);
    context.fillStyle = colour("--human");
    for (const index of path.people) tick(index, 0.7);
    context.fillStyle = colour("--fail");
    path.codes.forEach((_, index) => path.isError(index) && tick(index, 0.8));
    context.fillStyle = colour("--accent");
    path.seqs.forEach((seq, index) => this.hits.has(seq) && tick(index, 1));
  }

  #preview(event) {
    const { path } = this.model;
    const box = this.range.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left - 8) / (box.width - 16)));
    const index = Math.round(share * (path.length - 1));
    this.film.cut(this.peek.querySelector(".peek-shot"), index, 232);
    this.peek.querySelector("p").textContent = `${index + 1} · ${this.model.cardAt(index)?.text ?? ""}`;
    this.peek.style.left = `${Math.min(Math.max(0, event.clientX - box.left - 124), box.width - 248)}px`;
    this.peek.hidden = event.pointerType === "touch";
  }
}
