import { GAP, TILE, bySteps, byTime } from "../../lib/trace-film.js";
import { span } from "../../lib/trace-words.js";
import { calmly, find, icon, make } from "./dom.js";

const WIDTH = TILE - GAP;

/**
 * All steps of the path as small pictures, equally far apart or as far as they were in time. Only those in view exist;
 * their pictures come fifty on a sheet.
 */
export class Film {
  constructor(model, { hits }) {
    Object.assign(this, { model, hits });
    this.box = find("film");
    this.list = find("tiles");
    this.tiles = new Map();
    this.versions = new Map();
    this.wordless = new Set();
    this.timed = false;
    this.#install();
    this.#another();
  }

  /** By time, or by steps. */
  async pace(timed) {
    this.timed = timed;
    this.box.classList.toggle("timed", timed);
    await this.#another();
  }

  /** The place on the path of the tile at such a place on the screen. */
  placeAt(clientX) {
    return this.layout.at(clientX - this.box.getBoundingClientRect().left + this.box.scrollLeft - GAP);
  }

  #install() {
    this.box.addEventListener("scroll", () => this.paint(), { passive: true });
    new ResizeObserver(() => this.paint()).observe(this.box);
    this.model.addEventListener("path", () => this.#another());
    this.model.addEventListener("cards", () => this.#caption());
    this.model.addEventListener("step", () => this.#moved());
    this.model.addEventListener("window", () => this.repaint());
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
    const { start, end } = this.layout.inView(left, width);
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

  async #another() {
    this.versions.clear();
    const { path } = this.model;
    this.layout = bySteps(path.length);
    if (this.timed) {
      const times = await this.model.clock();
      if (path !== this.model.path) return;
      this.layout = byTime(times);
    }
    this.list.style.width = `${this.layout.end + GAP}px`;
    this.#reveal();
    this.repaint();
  }

  #reveal() {
    const left = this.layout.left(this.model.index);
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
      {
        href: `?step=${model.path.seqs[index]}`,
        "data-index": index,
        tabindex: -1,
        title: card?.text ?? "",
        draggable: false,
      },
      shot,
      make("span", { className: "tile-text clip", text }),
      this.#signs(index),
    );
    if (index === model.index) {
      link.setAttribute("aria-current", "step");
      link.tabIndex = 0;
    }
    const tile = make("li", { className: model.holds(index) ? "tile" : "tile out", value: index + 1 }, link);
    tile.style.left = `${GAP + this.layout.left(index)}px`;
    if (this.timed) tile.style.setProperty("--z", index);
    const cut = this.layout.cuts.get(index);
    if (cut) tile.append(make("span", { className: "tile-cut num", text: `+${span(cut)}`, title: "Left out here" }));
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
