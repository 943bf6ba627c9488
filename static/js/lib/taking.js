const AGAIN = 300;
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * The way to a machine that somebody else drives. `step` goes a little further, and resolves to whether there is more
 * to go; it is told whether to interrupt, from when a person has said so until the end. One step at a time, and none
 * before a way that was stopped has ended.
 */
export class Taking {
  #step;
  #rest;
  #under = Promise.resolve();
  #way = null;
  #stop = null;

  constructor(step, rest = () => pause(AGAIN)) {
    this.#step = step;
    this.#rest = rest;
  }

  /** Milliseconds, and null while nothing is under way. */
  get waited() {
    return this.#way && Date.now() - this.#way.since;
  }

  /** Whether somebody has told it to stop, and that is not done yet. */
  get stopping() {
    return this.#stop !== null;
  }

  async go({ interrupt = false } = {}) {
    if (this.#way) {
      this.#way.interrupt ||= interrupt;
      return;
    }
    const way = { since: Date.now(), interrupt };
    this.#way = way;
    try {
      if (this.#stop) await this.#stop.catch(() => {});
      while (this.#way === way && (await (this.#under = this.#step(way.interrupt)))) await this.#rest();
    } finally {
      if (this.#way === way) this.#way = null;
    }
  }

  /** `then` comes when no step is under way any more; whoever told it to go hears of one that failed. */
  async stop(then = () => {}) {
    this.#way = null;
    const stop = this.#under.catch(() => {}).then(then);
    this.#under = this.#stop = stop;
    try {
      await stop;
    } finally {
      if (this.#stop === stop) this.#stop = null;
    }
  }
}
