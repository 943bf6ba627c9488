import RFB from "../../vendor/novnc-1.7.0/core/rfb.js";
import { delay } from "../lib/backoff.js";
import { afterClose, afterRefusal } from "../lib/closecodes.js";
import { Refused, post } from "../lib/post.js";
import { qualityFor } from "../lib/quality.js";

/**
 * One desktop in one element. It asks for a ticket per connection, keeps the last frame when the connection goes,
 * and comes back by itself. `changed` is called after every change of `phase`, `driving`, `text` or `wait`.
 *
 * The role is the most this person may ever do here; whose turn it is decides the gate, message by message, and
 * `drive` only says whether this page sends anything.
 *
 * idle ─▶ connecting ─▶ live ─▶ waiting ─▶ connecting …      any ─▶ stopped (needs start() again)
 */
export class Viewer {
  constructor({ screen, frozen, ticketUrl, role, changed }) {
    Object.assign(this, { screen, frozen, ticketUrl, role, changed });
    this.driving = false;
    this.wait = 0;
    this.frozenAt = null;
    this.#enter("idle");
  }

  start() {
    if (this.phase !== "idle" && this.phase !== "stopped") return;
    this.attempt = 0;
    this.renewed = false;
    this.#connect();
  }

  stop(text = "") {
    this.#drop();
    this.#enter("stopped", text);
  }

  /** On the same connection. */
  drive(driving) {
    if (driving === this.driving) return;
    if (!driving) this.letGo();
    this.driving = driving;
    if (this.rfb) this.#hold();
    this.changed(this);
  }

  send(keys) {
    if (this.phase !== "live" || !this.driving) return false;
    for (const [symbol, code, down] of keys) this.rfb.sendKey(symbol, code, down);
    this.rfb.focus({ preventScroll: true });
    return true;
  }

  /** Keys that are down come up in the desktop: to noVNC, the window has lost the focus. */
  letGo() {
    window.dispatchEvent(new Event("blur"));
  }

  focus() {
    if (this.phase === "live" && this.driving) this.rfb.focus({ preventScroll: true });
  }

  /** A copy of what the desktop shows, or null. */
  picture() {
    if (this.phase !== "live") return null;
    const copy = document.createElement("canvas");
    this.#copyTo(copy);
    return copy;
  }

  #hold() {
    this.rfb.viewOnly = !this.driving;
    this.rfb.focusOnClick = this.driving;
    if (this.phase !== "live") return;
    if (this.driving) this.rfb.focus({ preventScroll: true });
    else this.rfb.blur();
  }

  #enter(phase, text = "") {
    this.phase = phase;
    this.text = text;
    this.changed(this);
  }

  async #connect() {
    this.#drop();
    const turn = {};
    this.turn = turn;
    this.#enter("connecting");
    try {
      const answer = await (await post(this.ticketUrl, { role: this.role })).json();
      if (this.turn === turn) this.#open(turn, answer.url);
    } catch (error) {
      if (this.turn !== turn) return;
      this.#refused(error instanceof Refused ? error.status : 0);
    }
  }

  #open(turn, url) {
    const socket = new WebSocket(url);
    // Before RFB listens: its own handler takes the canvas, and with it the last frame, off the page.
    socket.addEventListener("close", (event) => {
      if (this.turn === turn) this.#closed(event.code);
    });
    const rfb = new RFB(this.screen, socket, { shared: true });
    this.rfb = rfb;
    rfb.background = "transparent";
    rfb.scaleViewport = true;
    rfb.clipViewport = false;
    rfb.resizeSession = false;
    Object.assign(rfb, qualityFor(navigator.connection));
    this.#hold();
    rfb.addEventListener("connect", () => {
      if (this.turn !== turn) return;
      this.attempt = 0;
      this.renewed = false;
      this.#enter("live");
      this.#hold();
    });
  }

  #refused(status) {
    const { next, text } = afterRefusal(status);
    if (next === "watch") {
      this.role = "view";
      this.#connect();
      this.#enter("connecting", text);
    } else if (next === "stop") this.stop(text);
    else this.#waitAndRetry();
  }

  #closed(code) {
    const { next, text } = afterClose(code, this.renewed);
    if (next === "renew") {
      this.renewed = true;
      this.#connect();
    } else if (next === "stop") this.stop(text);
    else this.#waitAndRetry();
  }

  #waitAndRetry() {
    this.#drop();
    this.wait = delay(this.attempt);
    this.attempt += 1;
    this.timer = setInterval(() => {
      this.wait -= 1;
      if (this.wait <= 0) this.#connect();
      else this.changed(this);
    }, 1000);
    this.#enter("waiting");
  }

  #drop() {
    clearInterval(this.timer);
    this.turn = null;
    if (!this.rfb) return;
    this.#freeze();
    this.rfb.disconnect();
    this.rfb = null;
  }

  #freeze() {
    if (this.phase !== "live") return;
    this.#copyTo(this.frozen);
    this.frozen.hidden = false;
    this.frozenAt = new Date();
  }

  #copyTo(copy) {
    const canvas = this.screen.querySelector("canvas");
    copy.width = canvas.width;
    copy.height = canvas.height;
    copy.getContext("2d").drawImage(canvas, 0, 0);
  }
}
