import { drawDifference } from "../../lib/difference.js";
import { facts } from "../../lib/trace-words.js";
import { drawLayers, find, layer, parsed } from "./dom.js";

const KEPT = 24;

/** The screen of the current step, in the way that is wanted, with what is drawn over it. */
export class Stage {
  constructor(model) {
    this.model = model;
    this.box = find("stage");
    this.frame = find("frame");
    this.images = { before: find("before", this.frame), after: find("after", this.frame) };
    this.canvas = find("diff", this.frame);
    this.layers = find("layers", this.frame);
    this.slide = find("slide");
    this.ready = new Map();
    this.zoom = 0;
    this.#install();
    this.paint();
  }

  #install() {
    for (const type of ["step", "cards", "look"]) this.model.addEventListener(type, () => this.paint());
    this.slide.querySelector("input").addEventListener("input", () => this.#reveal());
    this.box.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    for (const button of document.querySelectorAll("[data-marks], [data-text], [data-zoom], [data-full]")) button.hidden = false;
  }

  paint() {
    const { model } = this;
    const { card, number, view } = model;
    find("facts").textContent = find("facts").title = facts(number, card);
    this.#paintViews(view);
    if (!card) return;
    this.frame.dataset.view = view;
    find("carried-note").hidden = !card.carried;
    find("nothing").hidden = Boolean(card.after);
    const [width, height] = card.size ?? [1280, 800];
    this.frame.style.setProperty("--ratio", width / height);
    for (const [moment, word] of [["before", "Before"], ["after", "After"]]) {
      this.#show(this.images[moment], card[moment], `${word} step ${number}: ${card.text}`);
    }
    drawLayers(this.layers, card, number);
    if (this.reads) this.#paintText();
    this.slide.hidden = view !== "slider" || !card.after;
    this.#reveal();
    this.#resize();
    this.#paintDifference();
    for (const near of [1, -1, 2]) this.#prepare(model.cardAt(model.index + near));
  }

  toggleMarks() {
    const bare = this.frame.classList.toggle("bare");
    find("marks").setAttribute("aria-pressed", String(!bare));
  }

  toggleText() {
    this.reads = !this.reads;
    find("text").setAttribute("aria-pressed", String(this.reads));
    if (this.reads && this.model.view !== "after") this.model.look({ view: "after" });
    else this.paint();
  }

  /** 0 fits the picture in; 1 shows a pixel as a pixel. */
  scale(zoom) {
    this.zoom = zoom;
    find("zoom").setAttribute("aria-pressed", String(zoom === 1));
    this.#resize();
  }

  #paintViews(view) {
    for (const link of document.querySelectorAll("a[data-view]")) {
      if (link.dataset.view === view) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  #show(image, sha256, alt) {
    image.hidden = !sha256;
    image.alt = alt;
    if (!sha256 || image.dataset.sha === sha256) return;
    image.dataset.sha = sha256;
    image.src = this.model.source.picture(sha256);
  }

  /** Pictures of the neighbours are fetched and decoded before anybody asks for them. */
  #prepare(card) {
    for (const sha256 of [card?.before, card?.after]) {
      if (!sha256 || this.ready.has(sha256)) continue;
      const image = new Image();
      image.src = this.model.source.picture(sha256);
      image.decode().catch(() => this.ready.delete(sha256));
      this.ready.set(sha256, image);
      if (this.ready.size > KEPT) this.ready.delete(this.ready.keys().next().value);
    }
  }

  /** What was read on a picture comes with the tab that shows it as text. */
  async #paintText() {
    const { seq, path, source } = this.model;
    const html = await source.detail(seq, { tab: "observation", view: "after", branch: path.branch }).catch(() => "");
    const spots = parsed(html).map((node) => node.querySelector?.("[data-spots]")?.dataset.spots).find(Boolean);
    if (!this.reads || seq !== this.model.seq) return;
    const shapes = JSON.parse(spots ?? "[]").map(([x, y, width, height]) => ["rect", { x, y, width, height }]);
    this.layers.querySelector(".read")?.remove();
    this.layers.append(layer("read", shapes));
  }

  #reveal() {
    const cut = this.slide.hidden ? "" : `${this.slide.querySelector("input").value}%`;
    this.images.after.style.clipPath = cut && `inset(0 0 0 ${cut})`;
    this.frame.style.setProperty("--cut", cut);
  }

  #resize() {
    const width = this.model.card?.size?.[0] ?? 1280;
    this.frame.style.width = this.zoom ? `${width * this.zoom}px` : "";
  }

  #wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const now = this.frame.clientWidth / (this.model.card?.size?.[0] ?? 1280);
    const wanted = Math.min(4, now * (event.deltaY < 0 ? 1.15 : 1 / 1.15));
    this.scale(this.frame.clientWidth <= this.box.clientWidth && event.deltaY > 0 ? 0 : wanted);
  }

  async #paintDifference() {
    const { before, after } = this.images;
    const { card, view } = this.model;
    this.canvas.hidden = true;
    find("same-note").hidden = true;
    if (view !== "diff" || !card.after) return;
    const turn = (this.turn = {});
    try {
      await Promise.all([before.decode(), after.decode()]);
    } catch {
      return;
    }
    if (this.turn !== turn || this.model.view !== "diff") return;
    this.canvas.width = after.naturalWidth;
    this.canvas.height = after.naturalHeight;
    find("same-note").hidden = drawDifference(this.canvas, before, after) > 0;
    this.canvas.hidden = false;
  }
}
