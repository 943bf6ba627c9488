import { counted, fresh } from "../lib/news.js";

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

/** How many wait for this person is in the title of every page; the browser tells what is new, if that was asked for. */
export function installAttention() {
  const { attention, notify } = document.body.dataset;
  if (!attention) return;
  const wanted = (notify ?? "").split(" ").filter(Boolean);

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
