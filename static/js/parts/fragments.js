import { LOGIN_ENDED, isLogin } from "../lib/post.js";
import { placeSteps } from "./newest.js";
import { say } from "./toasts.js";

/** What of a region is the server's word: neither form tokens nor running clocks. */
function essence(region) {
  const copy = region.cloneNode(true);
  copy.querySelectorAll("input[name=csrfmiddlewaretoken]").forEach((input) => input.removeAttribute("value"));
  copy.querySelectorAll("time[data-elapsed]").forEach((time) => time.replaceChildren());
  return copy.outerHTML;
}

function swap(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolled = [...old.querySelectorAll("[id]")].filter((element) => element.scrollLeft || element.scrollTop);
  for (const menu of old.querySelectorAll("details[id][open]")) {
    const same = fresh.querySelector(`#${CSS.escape(menu.id)}`);
    if (same) same.open = true;
  }
  for (const field of old.querySelectorAll("input[type=text][id], textarea[id]")) {
    const same = fresh.querySelector(`#${CSS.escape(field.id)}`);
    if (same && field.value !== field.defaultValue) same.value = field.value;
  }
  for (const pick of old.querySelectorAll("input[type=radio][id]:checked")) {
    const same = fresh.querySelector(`#${CSS.escape(pick.id)}`);
    if (same && !pick.defaultChecked) same.checked = true;
  }
  const places = scrolled.map(({ id, scrollLeft, scrollTop }) => [id, scrollLeft, scrollTop]);
  old.replaceWith(fresh);
  for (const [id, left, top] of places) document.getElementById(id)?.scrollTo(left, top);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function hasTyped() {
  return [...document.querySelectorAll("textarea, input[type=text]")].some((field) => field.value !== field.defaultValue);
}

const BROUGHT = ["doing", "gauges", "intent"];

/** Whether the socket keeps this region of a run's page up to date: the lists of steps, too, where they are shown. */
function isBrought(fresh) {
  const shared = ["acts", "film"].some((id) => fresh.querySelector(`#${id}`) && document.getElementById(id));
  return BROUGHT.includes(fresh.dataset.live) || shared;
}

/** Asks for this page again and exchanges the `data-live` regions that differ. Nothing else is touched. */
export class Fragments {
  constructor() {
    this.known = new Map();
    this.asOf = new Date();
    this.reachable = true;
    this.running = null;
    this.revision = Number(document.querySelector("[data-revision]")?.dataset.revision ?? 0);
    for (const region of document.querySelectorAll("[data-live]")) this.known.set(region.dataset.live, essence(region));
  }

  /** What the socket brought. False when the page has to be asked for all the same. */
  place({ revision, rest, regions, steps, more }) {
    if (revision < this.revision) return true;
    this.revision = revision;
    for (const html of Object.values(regions)) {
      this.#exchange(new DOMParser().parseFromString(html, "text/html").querySelector("[data-live]"));
    }
    const placed = placeSteps({ steps, more });
    for (const name of ["side", "strip"]) {
      const region = document.querySelector(`[data-live="${name}"]`);
      if (region) this.known.set(name, essence(region));
    }
    document.dispatchEvent(new CustomEvent("live:placed"));
    return placed && rest === document.querySelector("[data-rest]")?.dataset.rest;
  }

  /** Calls that come while one is under way share a single further one. */
  refresh() {
    if (!this.running) {
      this.running = this.#load().finally(() => {
        this.running = null;
      });
      return this.running;
    }
    this.next ??= this.running.then(() => {
      this.next = null;
      return this.refresh();
    });
    return this.next;
  }

  async #load() {
    let response;
    try {
      response = await fetch(location.href, { headers: { "X-Fragment": "1" }, cache: "no-store" });
    } catch {
      this.reachable = false;
      return;
    }
    this.reachable = response.status < 500;
    if (isLogin(response) && hasTyped()) say(LOGIN_ENDED, "error");
    else if (response.redirected || response.status === 404) location.reload();
    else if (response.ok && !this.#apply(await response.text())) await this.#load();
  }

  /** Where the socket was quicker, what it brings along stays. False when the page has to be asked for once more. */
  #apply(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    const revision = Number(page.querySelector("[data-revision]")?.dataset.revision ?? this.revision);
    const late = revision < this.revision;
    const regions = [...page.querySelectorAll("[data-live]")].filter((fresh) => !late || !isBrought(fresh));
    const again = late && regions.some((fresh) => fresh.querySelector("#acts"));
    this.revision = Math.max(revision, this.revision);
    this.asOf = new Date();
    for (const fresh of regions) this.#exchange(fresh);
    document.dispatchEvent(new CustomEvent("live:refreshed"));
    return !again;
  }

  #exchange(fresh) {
    const name = fresh.dataset.live;
    const now = essence(fresh);
    const old = document.querySelector(`[data-live="${CSS.escape(name)}"]`);
    if (!old || this.known.get(name) === now) return;
    this.known.set(name, now);
    swap(old, document.adoptNode(fresh));
  }
}
