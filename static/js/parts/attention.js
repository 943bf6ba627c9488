import { bell, counted, fresh } from "../lib/news.js";
import { say } from "./toasts.js";

const FIRST = 500;
const EVERY = 15000;
const TOLD = "godhand-told";
const SINCE = "godhand-since";
const KEPT = 50;
const WORDS = { help: "An agent needs you", end: "A run has ended" };

function told() {
  try {
    return JSON.parse(localStorage.getItem(TOLD) ?? "[]");
  } catch {
    return [];
  }
}

function tell(each) {
  const shown = new Notification(WORDS[each.kind], { body: `${each.title}\n${each.text}`, tag: each.key });
  shown.addEventListener("click", () => {
    window.focus();
    location.assign(each.url);
    shown.close();
  });
}

function ring(waiting) {
  const place = document.querySelector("[data-bell]");
  if (!place) return;
  const count = place.querySelector("[data-bell-count]");
  count.hidden = !waiting;
  count.textContent = waiting;
  place.title = bell(waiting);
  place.setAttribute("aria-label", bell(waiting));
}

/**
 * How many wait for this person is in the title of every page and on its bell, and one more is announced at once; the
 * browser tells what is new, if that was asked for.
 */
export function installAttention() {
  const { attention, notify } = document.body.dataset;
  if (!attention) return;
  const wanted = (notify ?? "").split(" ").filter(Boolean);
  let before = Infinity;

  async function look() {
    let found;
    try {
      const since = localStorage.getItem(SINCE) ?? "";
      const answer = await fetch(`${attention}?${new URLSearchParams({ since })}`);
      if (!answer.ok || answer.redirected) return;
      found = await answer.json();
    } catch {
      return;
    }
    document.title = counted(document.title, found.waiting);
    ring(found.waiting);
    if (found.waiting > before) {
      const asks = found.news.find(({ kind }) => kind === "help");
      say(asks ? `${WORDS.help}: ${asks.title}` : `${WORDS.help}.`, "warning");
    }
    before = found.waiting;
    if (wanted.length && globalThis.Notification?.permission === "granted") {
      const known = told();
      const news = fresh(found.news, wanted, known);
      news.forEach(tell);
      localStorage.setItem(TOLD, JSON.stringify([...known, ...news.map((each) => each.key)].slice(-KEPT)));
    }
    localStorage.setItem(SINCE, found.now);
  }

  setTimeout(look, FIRST);
  setInterval(look, EVERY);
  document.addEventListener("visibilitychange", () => document.hidden || look());
}
