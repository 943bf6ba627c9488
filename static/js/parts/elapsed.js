import { spoken } from "../lib/elapsed.js";

function tick() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-elapsed]")) {
    const text = spoken(now - Date.parse(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
}

export function installElapsed() {
  setInterval(tick, 1000);
}
