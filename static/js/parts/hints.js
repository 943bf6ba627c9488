import { delay } from "../lib/backoff.js";
import { describe } from "../lib/connection.js";

const POLL = 10000;

/** Listens for "look again". While nobody can be heard, looks again by itself every ten seconds. */
export class Hints {
  constructor(path, fragments, dot) {
    this.url = new URL(path, location.href);
    this.url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.fragments = fragments;
    this.dot = dot;
    this.attempt = 0;
    this.open = false;
    this.wait = 0;
  }

  start() {
    this.#connect();
    setInterval(() => this.#second(), 1000);
    setInterval(() => {
      if (!this.open) this.#refresh();
    }, POLL);
    addEventListener("online", () => {
      this.wait = Math.min(this.wait, 1);
    });
  }

  #connect() {
    this.connecting = true;
    const socket = new WebSocket(this.url);
    socket.addEventListener("open", () => {
      this.open = true;
      this.attempt = 0;
      this.#refresh();
    });
    socket.addEventListener("message", (event) => {
      const hint = JSON.parse(event.data);
      document.dispatchEvent(new CustomEvent("hint", { detail: hint }));
      if (hint.shown) this.#place(hint.shown, socket);
      else if (hint.type !== "lease.changing") this.#refresh();
    });
    socket.addEventListener("close", () => {
      this.open = false;
      this.connecting = false;
      this.wait = delay(this.attempt);
      this.attempt += 1;
      if (this.attempt === 2) this.#refresh();
      this.#show();
    });
  }

  /** The server sends no more before it knows that this was read. */
  #place(shown, socket) {
    try {
      if (!this.fragments.place(shown)) this.#refresh();
    } finally {
      if (socket.readyState === WebSocket.OPEN) socket.send("read");
    }
  }

  async #refresh() {
    await this.fragments.refresh();
    this.#show();
  }

  #second() {
    if (this.open || this.connecting) return;
    this.wait -= 1;
    if (this.wait <= 0) this.#connect();
    this.#show();
  }

  #show() {
    const { open, wait } = this;
    const { reachable, asOf } = this.fragments;
    const { state, text } = describe({ open, wait, reachable, asOf });
    this.dot.hidden = false;
    this.dot.dataset.state = state;
    this.dot.lastElementChild.textContent = text;
  }
}
