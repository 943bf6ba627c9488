import { shifted, stay } from "../../lib/trace-pace.js";
import { find } from "./dom.js";

/** Walks along the path by itself, and stops where something went wrong or a person took over. */
export class Player {
  constructor(model) {
    this.model = model;
    this.speed = 1;
    this.playing = false;
    this.button = find("play");
    this.pace = find("speed");
    this.button.hidden = this.pace.hidden = false;
    this.button.addEventListener("click", () => this.toggle());
    this.pace.addEventListener("click", () => this.shift(this.speed === 4 ? -3 : 1));
  }

  toggle() {
    if (this.playing) return this.stop();
    const { model } = this;
    if (model.index === model.last) model.go(model.first);
    this.#set(true);
    return this.#wait();
  }

  stop() {
    clearTimeout(this.timer);
    this.#set(false);
  }

  /** Slower or faster; more than one step at once ends at the limits. */
  shift(direction) {
    for (let left = Math.abs(direction); left > 0; left -= 1) this.speed = shifted(this.speed, Math.sign(direction));
    this.pace.textContent = `${this.speed}×`;
    this.pace.setAttribute("aria-label", `Speed: ${this.speed}×`);
  }

  async #wait() {
    const { model } = this;
    await model.need(model.index + 1);
    if (!this.playing) return;
    this.timer = setTimeout(() => this.#step(), stay(model.card, model.cardAt(model.index + 1), this.speed));
  }

  #step() {
    const { model } = this;
    model.go(model.index + 1);
    const { path, index } = model;
    if (index === model.last || path.isError(index) || path.people.has(index)) this.stop();
    else this.#wait();
  }

  #set(playing) {
    this.playing = playing;
    this.button.setAttribute("aria-pressed", String(playing));
    this.button.setAttribute("aria-label", playing ? "Pause" : "Play");
  }
}
