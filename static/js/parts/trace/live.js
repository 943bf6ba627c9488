import { Hints } from "../hints.js";
import { calmly, find, parsed } from "./dom.js";

const LOOK_AGAIN = 3000;

/** While the run goes on: what is new comes in, and the last step is followed until one looks at another. */
export class Live {
  constructor(model, { film, tree, detail }) {
    Object.assign(this, { model, film, tree, detail });
    this.following = model.index === model.path.length - 1;
    this.asOf = new Date();
    this.reachable = true;
    this.button = find("live-jump");
    this.button.addEventListener("click", () => this.jump());
    this.redraw = calmly(() => this.tree.reload(), 400);
    model.addEventListener("step", () => this.#moved());
  }

  start() {
    const { socket } = find("trace").dataset;
    const dot = find("conn");
    if (socket && dot) new Hints(socket, this, dot).start();
    else this.timer = setInterval(() => this.refresh(), LOOK_AGAIN);
  }

  jump() {
    this.following = true;
    this.model.choose();
    this.model.go(this.model.path.length - 1);
    this.#show();
  }

  /** Calls that come while one is under way share a single further one. */
  async refresh() {
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = true;
    do {
      this.again = false;
      await this.#load();
    } while (this.again);
    this.running = false;
  }

  async #load() {
    let news;
    try {
      news = await this.model.source.changes(this.model.revision);
      this.reachable = true;
      this.asOf = new Date();
    } catch {
      this.reachable = false;
      return;
    }
    this.again ||= news.more;
    find("totals")?.replaceChildren(...parsed(news.totals));
    if (news.steps.length) this.#learn(news);
    else {
      this.model.live = news.live;
      this.redraw();
    }
    if (!news.live) clearInterval(this.timer);
    this.#show();
  }

  #learn(news) {
    const { model } = this;
    const { following } = this;
    model.learn(news);
    this.film.refresh(news.steps.map(({ seq }) => seq));
    for (const { seq } of news.steps) this.detail.renew(seq);
    if (following) model.go(model.path.length - 1);
    this.following = following;
    this.redraw();
  }

  #moved() {
    this.following = this.model.index === this.model.path.length - 1;
    this.#show();
  }

  #show() {
    this.button.hidden = !this.model.live || this.following;
  }
}
