import { backLine, bar, news, offer, timeLeft } from "../lib/control.js";
import { Refused, isLogin, post } from "../lib/post.js";
import { Taking } from "../lib/taking.js";
import { paintLine } from "./controlbar.js";
import { say } from "./toasts.js";

const BEAT = 15000;
const USES = ["keydown", "input", "pointerdown", "pointermove", "wheel"];
const LEASE_HINTS = ["lease.changing", "lease.changed"];

/**
 * Who drives, kept in step with the server: a hint, an answer or a new fragment brings the facts, and the viewer
 * follows. `changed` is called after each. A page that drives says so every 15 s, and whether its person did anything.
 */
export class Lease {
  constructor({ root, viewer, changed }) {
    Object.assign(this, { root, viewer, changed });
    this.facts = null;
    this.taking = new Taking((interrupt) => this.#step(interrupt));
    this.own = false;
    this.usedAt = 0;
    this.until = 0;
  }

  start() {
    this.read();
    if (this.facts?.stage) this.take();
    document.addEventListener("hint", ({ detail }) => this.#hear(detail));
    setInterval(() => this.#second(), 1000);
    setInterval(() => this.#beat(), BEAT);
    for (const place of [this.viewer.screen, this.#dialog]) this.#watch(place);
  }

  /** What is done there counts as use: of the desktop, or of the words for the agent. */
  #watch(place) {
    const used = () => (this.usedAt = Date.now());
    for (const kind of USES) place?.addEventListener(kind, used, { capture: true, passive: true });
  }

  get #dialog() {
    return document.getElementById("handback");
  }

  get #place() {
    return this.root.querySelector("[data-facts]");
  }

  get url() {
    return this.#place.dataset.lease;
  }

  get driving() {
    return this.facts?.mode === "you";
  }

  get left() {
    return Math.round((this.until - Date.now()) / 1000);
  }

  /** What the server wrote into the page. */
  read() {
    if (this.#place) this.#learn(JSON.parse(this.#place.dataset.facts));
  }

  async act(verb, fields = {}) {
    this.own = true;
    if (verb === "back") this.viewer.drive(false);
    try {
      const answer = await post(`${this.url}${verb}/`, fields);
      this.#learn(await answer.json());
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#refused(error);
      return false;
    } finally {
      this.own = false;
    }
  }

  /** Again and again until it is there: each call takes it one step further. */
  take(how) {
    return this.taking.go(how);
  }

  async #step(interrupt) {
    const went = await this.act("take", { ...(!this.#isPrivate() && { record: 1 }), ...(interrupt && { interrupt: 1 }) });
    return went && Boolean(this.facts.stage);
  }

  #isPrivate() {
    return this.root.querySelector("[data-private] input")?.checked ?? true;
  }

  async withdraw() {
    const withdrawn = this.taking.stop(() => this.act("withdraw"));
    this.paint();
    await withdrawn;
    this.paint();
  }

  extend() {
    return this.act("beat", { longer: 1 });
  }

  paint() {
    const { facts, left } = this;
    const { waited, stopping } = this.taking;
    const now = { left, waited, stopping };
    paintLine(document.querySelector("[data-control-bar]"), bar(facts, now));
    if (this.#dialog?.open) paintLine(this.#dialog.querySelector("[data-back-line]"), backLine(facts, now));
    for (const clock of this.root.querySelectorAll("[data-left]")) {
      clock.hidden = !this.driving;
      clock.textContent = `${timeLeft(left)} left`;
    }
    for (const button of this.root.querySelectorAll("[data-extend]")) button.hidden = !this.driving;
    const force = this.root.querySelector("[data-force]");
    if (force) force.hidden = facts.mode !== "other" || !facts.may_force;
    this.root.classList.toggle("busy", this.driving || facts.mode === "other" || Boolean(facts.doing));
    this.#paintOffer(offer(facts));
  }

  #paintOffer(offered) {
    const asked = this.root.querySelector("[data-private]");
    if (asked) asked.hidden = offered?.verb !== "take" || !this.facts.agent;
    const button = this.root.querySelector("[data-drive]");
    if (!button) return;
    button.hidden = !offered;
    if (!offered) return;
    button.dataset.verb = offered.verb;
    button.disabled = !offered.verb;
    button.querySelector("span").textContent = offered.text;
    button.classList.toggle("human", !this.driving);
    button.querySelector("kbd").textContent = this.driving ? "Ctrl+Alt+Shift" : "t";
    button.setAttribute("aria-pressed", String(this.driving));
  }

  /**
   * The holder comes with the hint: whoever lost control stops sending before anything is asked. While it changes, the
   * new holder cannot send yet, and does not look.
   */
  #hear(hint) {
    if (!LEASE_HINTS.includes(hint.type) || !this.facts || !this.url.includes(`/${hint.id}/`)) return;
    const mine = hint.holder === this.facts.me;
    if (!mine) this.viewer.drive(false);
    if (!mine || hint.type === "lease.changed") this.#look();
  }

  async #look() {
    const answer = await fetch(this.url, { cache: "no-store" }).catch(() => null);
    if (answer?.ok && !isLogin(answer)) this.#learn(await answer.json());
  }

  async #beat() {
    if (this.driving) await this.act("beat", Date.now() - this.usedAt < BEAT ? { longer: 1 } : {});
  }

  #second() {
    if (!this.facts) return;
    if (this.driving && this.left < 0) this.#look();
    this.paint();
  }

  #learn(facts) {
    const before = this.facts;
    if (before && facts.epoch < before.epoch) return;
    this.facts = facts;
    this.until = Date.now() + 1000 * facts.left;
    this.viewer.drive(facts.mode === "you");
    const touch = matchMedia("(pointer: coarse)").matches;
    const told = before && news(before, facts, { own: this.own, touch });
    if (told) say(told.text, told.tone);
    this.paint();
    this.changed();
  }

  async #refused(error) {
    const answer = await error.answer?.json().catch(() => null);
    if (answer?.mode) this.#learn(answer);
    say(answer?.error ?? error.words(), "error");
  }
}
