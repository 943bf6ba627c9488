import { differing, drawDifference } from "../lib/difference.js";

const NAMES = { before: "The screen as the agent last saw it", now: "The screen now", difference: "What differs" };

/** The screen before a person came, the screen now, and what differs: one of them at a time. */
export class BeforeAfter {
  constructor(place) {
    this.place = place;
    this.canvas = place.querySelector("canvas");
    place.addEventListener("click", (event) => {
      const button = event.target.closest("[data-differs-show]");
      if (button) this.#show(button.dataset.differsShow);
    });
  }

  /** `now` is a canvas of its own. Without a picture from before there is nothing to compare. */
  async open(address, now) {
    this.place.hidden = true;
    if (!address || !now) return;
    const before = new Image();
    before.src = address;
    try {
      await before.decode();
    } catch {
      return;
    }
    Object.assign(this, { before, now });
    const { width, height } = now;
    Object.assign(this.canvas, { width, height });
    const count = this.#show("difference");
    this.place.querySelector("[data-differs-said]").textContent = differing(count, width * height);
    this.place.hidden = false;
  }

  /** How many pixels differ. */
  #show(which) {
    const { canvas, before, now } = this;
    const count = drawDifference(canvas, before, now);
    const whole = { before, now }[which];
    if (whole) canvas.getContext("2d").drawImage(whole, 0, 0, canvas.width, canvas.height);
    canvas.setAttribute("aria-label", NAMES[which]);
    for (const button of this.place.querySelectorAll("[data-differs-show]")) {
      button.setAttribute("aria-pressed", String(button.dataset.differsShow === which));
    }
    return count;
  }
}
