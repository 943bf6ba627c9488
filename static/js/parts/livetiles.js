import { LivePool } from "../lib/livepool.js";
import { Viewer } from "./viewer.js";

const MOST = 4;
const BEFORE = 600;
const AFTER = 1500;

/** A few tiles as real desktops that one only watches: the one under the pointer or with the focus, and pinned ones. */
export class LiveTiles {
  constructor() {
    this.pool = new LivePool(MOST);
    this.views = new Map();
    this.paused = false;
    this.seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) if (!isIntersecting) this.#end(target.dataset.tile);
    });
    for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, (event) => this.#come(event));
    for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, (event) => this.#go(event));
    document.addEventListener("click", (event) => {
      const button = event.target.closest?.("[data-pin]");
      if (button) this.togglePin(button.closest("[data-tile]").dataset.tile);
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#endAll();
    });
    document.addEventListener("live:refreshed", () => this.follow());
    this.follow();
  }

  pause(paused) {
    this.paused = paused;
    if (paused) this.#endAll();
  }

  togglePin(id) {
    if (this.pool.isPinned(id)) {
      this.pool.unpin(id);
      this.#end(id);
    } else this.#begin(id, true);
    this.#paint();
  }

  /** After the page has changed: live tiles keep their connection and move into the new elements. */
  follow() {
    for (const [id, view] of this.views) {
      const tile = tileOf(id);
      if (!tile?.dataset.ticket) this.#end(id);
      else if (!tile.contains(view.element)) this.#place(tile, view.element);
    }
    this.#paint();
  }

  #come(event) {
    const tile = event.target.closest?.("[data-tile][data-ticket]");
    if (!tile || this.waiting?.id === tile.dataset.tile) return;
    clearTimeout(this.waiting?.timer);
    const id = tile.dataset.tile;
    clearTimeout(this.views.get(id)?.leaving);
    this.waiting = { id, timer: setTimeout(() => this.#begin(id, false), BEFORE) };
  }

  #go(event) {
    const tile = event.target.closest?.("[data-tile]");
    if (!tile || tile.contains(event.relatedTarget)) return;
    const id = tile.dataset.tile;
    if (this.waiting?.id === id) {
      clearTimeout(this.waiting.timer);
      this.waiting = null;
    }
    const view = this.views.get(id);
    if (view) view.leaving = setTimeout(() => this.pool.leave(id) && this.#end(id), AFTER);
  }

  #begin(id, pinned) {
    const tile = tileOf(id);
    if (this.paused || !tile?.dataset.ticket) return;
    const { begun, ending } = this.pool.begin(id, { pinned });
    ending.forEach((other) => this.#end(other));
    if (!begun) return;
    const view = open(tile.dataset.ticket);
    this.views.set(id, view);
    this.#place(tile, view.element);
    view.viewer.start();
  }

  #place(tile, element) {
    tile.querySelector("[data-stage]").append(element);
    this.seen.observe(tile);
  }

  #end(id) {
    this.pool.end(id);
    const view = this.views.get(id);
    if (!view) return;
    this.views.delete(id);
    clearTimeout(view.leaving);
    view.viewer.stop();
    view.element.remove();
    const tile = tileOf(id);
    if (tile) this.seen.unobserve(tile);
    this.#paint();
  }

  #endAll() {
    [...this.views.keys()].forEach((id) => this.#end(id));
  }

  #paint() {
    for (const button of document.querySelectorAll("[data-pin]")) {
      const pinned = this.pool.isPinned(button.closest("[data-tile]").dataset.tile);
      button.hidden = false;
      button.setAttribute("aria-pressed", String(pinned));
    }
  }
}

function tileOf(id) {
  return document.querySelector(`[data-tile="${CSS.escape(id)}"]`);
}

/** A viewer that spends little: it may look a bit worse than the page of the machine itself. */
function open(ticketUrl) {
  const element = document.createElement("div");
  element.className = "tile-live";
  const screen = document.createElement("div");
  screen.className = "tile-screen";
  const badge = document.createElement("span");
  badge.className = "chip run tile-badge";
  badge.textContent = "Live";
  badge.hidden = true;
  element.append(screen, badge);
  const changed = ({ phase, rfb }) => {
    badge.hidden = phase !== "live";
    if (phase === "live" && rfb) Object.assign(rfb, { qualityLevel: 2, compressionLevel: 6 });
  };
  const frozen = document.createElement("canvas");
  return { element, viewer: new Viewer({ screen, frozen, ticketUrl, role: "view", changed }) };
}
