import { isSendChord } from "../../lib/keyguard.js";
import { keep, kept } from "../../lib/kept.js";
import { Refused, post } from "../../lib/post.js";
import { calmly, find, make, parsed, tell } from "./dom.js";

const KEPT = 80;
const RUSH = 40;

const nameOf = (more) => more.dataset.kept ?? more.querySelector("summary").textContent.trim();

function remembered() {
  try {
    return JSON.parse(kept("unfolded")) ?? {};
  } catch {
    return {};
  }
}

/** The tabs about the current step. Those of its neighbours are fetched before anybody asks for them. */
export class Detail {
  constructor(model) {
    this.model = model;
    this.place = find("detail");
    this.known = new Map();
    this.unfolded = new Map(Object.entries(remembered()));
    this.settled = calmly(() => this.#ahead(), 80);
    for (const type of ["step", "look"]) model.addEventListener(type, () => this.paint());
    this.place.addEventListener("click", (event) => this.#remember(event.target.closest("summary")?.parentElement));
    this.place.addEventListener("keydown", (event) => this.#press(event));
    this.place.addEventListener("submit", (event) => this.#submit(event));
    this.#unfold();
    this.settled();
  }

  get shown() {
    const body = find("body", this.place);
    return body && `${body.dataset.of}/${body.dataset.shows}`;
  }

  async paint() {
    const key = this.#key(this.model.seq);
    // Whoever rushes along the path does not read on the way.
    if (!this.known.has(key)) await new Promise((resolve) => setTimeout(resolve, RUSH));
    if (key !== this.#key(this.model.seq)) return;
    const html = await this.#html(this.model.seq).catch((error) => error);
    if (key !== this.#key(this.model.seq)) return;
    if (html instanceof Error) this.#fail(html);
    else if (this.shown !== key) this.#put(html);
    this.settled();
  }

  /** What is beside a picture is about that picture, or says that it is missing. */
  #fail(error) {
    const body = find("body", this.place);
    const words = error.isLoggedOut ? "your login has ended. Log in again." : "the server does not answer as it should.";
    delete body.dataset.of;
    body.replaceChildren(make("p", { className: "empty", text: `The details of this step are missing: ${words}` }));
  }

  /** After a step has moved on, or a note was written. */
  async renew(seq = this.model.seq) {
    for (const key of [...this.known.keys()]) if (key.startsWith(`${seq}/`)) this.known.delete(key);
    if (seq === this.model.seq) this.#put(await this.#html(seq).catch(() => ""));
  }

  #key(seq) {
    return `${seq}/${this.model.tab}`;
  }

  #html(seq) {
    const key = this.#key(seq);
    if (!this.known.has(key)) {
      const { tab, view, path } = this.model;
      this.known.set(key, this.model.source.detail(seq, { tab, view, branch: path.branch }));
      this.known.get(key).catch(() => this.known.delete(key));
      if (this.known.size > KEPT) this.known.delete(this.known.keys().next().value);
    }
    return this.known.get(key);
  }

  #put(html) {
    if (!html) return;
    const focused = this.place.contains(document.activeElement) ? document.activeElement.dataset.tab : "";
    this.place.replaceChildren(...parsed(html));
    this.#unfold();
    if (focused) this.place.querySelector(`[data-tab="${focused}"]`)?.focus({ preventScroll: true });
  }

  #unfold() {
    for (const more of this.place.querySelectorAll("details")) more.open = this.unfolded.get(nameOf(more)) ?? more.open;
  }

  /** What somebody opened or closed is so at the next step; what every step has, on the next page too. */
  #remember(more) {
    if (!more) return;
    this.unfolded.set(nameOf(more), !more.open);
    if (more.dataset.kept) keep("unfolded", JSON.stringify({ ...remembered(), [nameOf(more)]: !more.open }));
  }

  #ahead() {
    const { path, index } = this.model;
    for (const place of [index + 1, index - 1, index + 2]) if (path.seqs[place]) this.#html(path.seqs[place]).catch(() => {});
  }

  #press(event) {
    const form = isSendChord(event) && event.target.closest("[data-submit-keys]");
    if (!form) return;
    event.preventDefault();
    if (!event.repeat) form.requestSubmit();
  }

  async #submit(event) {
    const form = event.target;
    if (!form.matches("[data-remark]")) return;
    event.preventDefault();
    if (form.dataset.sending) return;
    form.dataset.sending = "yes";
    try {
      await post(form.action, new FormData(form));
      form.reset();
      await this.renew();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tell(error.words("The note was not changed: the server does not answer as it should."), "error");
    } finally {
      delete form.dataset.sending;
    }
  }
}
