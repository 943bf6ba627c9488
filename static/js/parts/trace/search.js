import { calmly, find } from "./dom.js";

const NOTHING = { count: 0, hits: [], problem: "" };

/** Finds steps, counts them, and walks from one to the next, onto other branches too. */
export class Search {
  constructor(model, hits, changed) {
    Object.assign(this, { model, hits, changed });
    this.form = find("find");
    this.field = this.form.querySelector("input[type=search]");
    this.count = find("count", this.form);
    this.list = [];
    this.asked = "";
    const ask = calmly(() => this.ask(), 120);
    this.field.addEventListener("input", ask);
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    for (const button of this.form.querySelectorAll("[data-hit]")) {
      button.addEventListener("click", () => this.move(Number(button.dataset.hit)));
    }
    model.addEventListener("step", () => this.#tell());
    if (this.field.value) this.ask();
  }

  get active() {
    return this.asked !== "";
  }

  async ask() {
    const asked = this.field.value.trim();
    if (asked === this.asked) return;
    this.asked = asked;
    let found = NOTHING;
    try {
      if (asked) found = await this.model.source.search(asked);
    } catch (error) {
      if (this.asked === asked) this.#failed(error);
      return;
    }
    if (this.asked === asked) this.#show(found);
  }

  /** It can be asked for once more. */
  #failed(error) {
    this.asked = "";
    this.#show(NOTHING);
    this.count.textContent = error.isLoggedOut ? "Your login has ended. Log in again." : "No answer. Enter tries again.";
    this.count.classList.add("none");
  }

  #show(found) {
    this.problem = found.problem;
    this.total = found.count;
    this.list = found.hits.map(([seq, branch]) => ({ seq, branch }));
    this.hits.clear();
    for (const { seq } of this.list) this.hits.add(seq);
    this.#tell();
    this.changed();
  }

  clear() {
    this.field.value = "";
    this.ask();
  }

  /** To the next hit after this step, or the one before it; round at the ends. */
  move(direction) {
    if (!this.list.length) return;
    const { seq } = this.model;
    const after = this.list.findIndex((hit) => hit.seq > seq);
    const before = this.list.findLastIndex((hit) => hit.seq < seq);
    const place = direction > 0 ? after : before;
    const hit = place >= 0 ? this.list[place] : this.list.at(direction > 0 ? 0 : -1);
    this.model.goTo(hit.seq, hit.branch);
  }

  #key(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      if (this.field.value.trim() === this.asked) this.move(event.shiftKey ? -1 : 1);
      else this.ask().then(() => this.move(1));
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.clear();
      this.field.blur();
    }
  }

  #tell() {
    const here = this.list.findIndex((hit) => hit.seq === this.model.seq) + 1;
    const hits = `${this.total} hit${this.total === 1 ? "" : "s"}`;
    this.count.textContent = this.active ? this.problem || (here ? `${here} of ${hits}` : hits) : "";
    this.count.classList.toggle("none", this.active && !this.total);
    for (const button of this.form.querySelectorAll("[data-hit]")) button.hidden = !this.list.length;
  }
}
