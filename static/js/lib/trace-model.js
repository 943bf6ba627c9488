import { Path } from "./trace-path.js";

const CHUNK = 50;

/**
 * What is looked at: a path, a place on it, a tab, and a way to show the picture.
 *
 * Events: "step" when another step is looked at, "cards" when more is known about steps, "path" when the path is
 * another or longer, "look" when tab or view changed, "window" when other steps may be looked at. A card is a step as
 * `trace_steps.py` tells it. `window` is the first and the last place on the path that one stays between, or null.
 */
export class TraceModel extends EventTarget {
  constructor(data, source) {
    super();
    this.source = source;
    this.trace = data.trace;
    this.revision = data.revision;
    this.live = data.live;
    this.branches = data.branches.map(([name, head, first]) => ({ name, head, first }));
    this.sheet = data.sheet;
    this.tab = data.tab;
    this.view = data.view;
    this.cards = new Map();
    this.loading = new Map();
    this.times = new Map();
    this.window = null;
    this.path = new Path(data.path);
    this.heading = this.path.branch;
    this.index = Math.max(0, this.path.indexOf(data.current));
    this.#keep(data.steps);
  }

  get seq() {
    return this.path.seqs[this.index];
  }

  get number() {
    return this.index + 1;
  }

  get card() {
    return this.cards.get(this.seq);
  }

  cardAt(index) {
    return this.cards.get(this.path.seqs[index]);
  }

  get first() {
    return this.window?.[0] ?? 0;
  }

  get last() {
    return this.window?.[1] ?? this.path.length - 1;
  }

  holds(index) {
    return this.first <= index && index <= this.last;
  }

  /** Only the steps between two places are looked at, whichever comes first; all without any. */
  choose(one, other) {
    const most = this.path.length - 1;
    const places = [one, other].map((place) => Math.max(0, Math.min(place, most))).sort((a, b) => a - b);
    this.window = one === undefined || (places[0] === 0 && places[1] === most) ? null : places;
    this.#say("window");
    this.go(this.index);
  }

  /** When each step of the path was, in milliseconds since the beginning. */
  async clock() {
    const { path } = this;
    if (!this.times.has(path.seqs[0])) {
      const times = await this.source.times(path.branch, path.seqs);
      path.seqs.slice(0, times.length).forEach((seq, place) => this.times.set(seq, times[place]));
    }
    let last = 0;
    return path.seqs.map((seq) => (last = this.times.get(seq) ?? this.cards.get(seq)?.at ?? last));
  }

  go(index) {
    const place = Math.max(this.first, Math.min(index, this.last));
    if (place === this.index) return;
    this.index = place;
    this.#say("step");
    this.need(place);
    this.need(place + CHUNK / 2);
  }

  /** To a step wherever it is: on this path, or on the one of its branch. */
  async goTo(seq, branch) {
    const place = this.path.indexOf(seq);
    if (place >= 0 && !this.holds(place)) this.choose();
    if (place >= 0) this.go(place);
    else if (branch) await this.follow(branch, seq);
  }

  /** Looks at another branch, `heading` for it until its path is here: at the same step if it is on its path too, else at the same number. */
  async follow(branch, seq = this.seq) {
    this.heading = branch;
    const path = new Path(await this.source.path(branch));
    if (this.heading !== branch) return;
    const place = path.indexOf(seq);
    this.path = path;
    this.times.clear();
    this.window = null;
    this.index = place >= 0 ? place : Math.min(this.index, path.length - 1);
    this.#say("path");
    this.#say("step");
    await this.need(this.index);
  }

  look({ tab = this.tab, view = this.view }) {
    if (tab === this.tab && view === this.view) return;
    Object.assign(this, { tab, view });
    this.#say("look");
  }

  /** Cards around a place; asked for once. */
  async need(index) {
    const start = Math.floor(Math.max(0, Math.min(index, this.path.length - 1)) / CHUNK) * CHUNK;
    const seqs = this.path.seqs.slice(start, start + CHUNK).filter((seq) => !this.cards.has(seq));
    if (!seqs.length) return;
    const key = seqs.join();
    if (!this.loading.has(key)) this.loading.set(key, this.#load(seqs, start).finally(() => this.loading.delete(key)));
    await this.loading.get(key);
  }

  /** What the server said has changed. */
  learn({ revision, live, steps }) {
    this.revision = revision;
    this.live = live;
    this.#keep(steps);
    const longer = steps.filter((step) => this.path.learn(step)).length > 0;
    this.#say(longer ? "path" : "cards");
  }

  async #load(seqs, start) {
    this.#keep(await this.source.steps(seqs, this.path.indexOf(seqs[0]) + 1 || start + 1));
    this.#say("cards");
  }

  #keep(cards) {
    for (const card of cards) this.cards.set(card.seq, card);
  }

  #say(type) {
    this.dispatchEvent(new Event(type));
  }
}
