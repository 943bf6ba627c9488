import { clock } from "../lib/elapsed.js";
import { isLeaveChord } from "../lib/keyguard.js";
import { combination, keysymsOf } from "../lib/keysyms.js";
import { Refused, post } from "../lib/post.js";
import { say, sayAll } from "../parts/toasts.js";
import { Viewer } from "../parts/viewer.js";

const stage = document.querySelector("[data-viewer]");
const said = stage.querySelector("[data-said]");
const who = document.querySelector("[data-who]");
// While one of these lasts, the last frame is still what the machine looks like.
const KEEPS_FRAME = ["ready", "stopping", "stopped"];
const WATCHING = { connecting: "Connecting", live: "You are watching", waiting: "Not connected" };
const part = (name) => document.querySelector(`[data-${name}]`);

const viewer = new Viewer({
  screen: stage.querySelector("[data-screen]"),
  frozen: stage.querySelector("[data-frozen]"),
  ticketUrl: stage.dataset.ticket,
  changed: paint,
});

function sentence({ phase, text, wait, frozenAt }) {
  if (text) return text;
  const missing = frozenAt ? `Showing the frame from ${clock(frozenAt)}.` : "The desktop cannot be reached.";
  if (phase === "waiting") return `${missing} Trying again in ${wait} s`;
  if (phase === "connecting" && !frozenAt) return "Connecting to the desktop";
  return "";
}

function paint(now) {
  const driving = now.role === "drive" && now.phase === "live";
  stage.dataset.mode = driving ? "drive" : "view";
  stage.dataset.phase = now.phase;
  const text = sentence(now);
  said.hidden = !text;
  said.textContent = text;
  now.frozen.classList.toggle("dim", now.phase === "waiting" || now.phase === "stopped");
  paintWho(now, driving);
  paintTools(driving);
  if (driving !== paint.driving) {
    if (driving) say("You are driving. Ctrl+Alt+Shift gives control back.");
    else if (paint.driving && now.phase === "live") say("You are watching.");
    if (driving || now.phase === "live") paint.driving = driving;
  }
}

function paintWho(now, driving) {
  const chip = who.querySelector("[data-who-chip]");
  chip.hidden = now.phase === "idle" || now.phase === "stopped";
  chip.classList.toggle("human", driving);
  chip.classList.toggle("run", !driving && now.phase === "live");
  chip.classList.toggle("wait", now.phase === "waiting");
  chip.querySelector("span").textContent = driving ? "You are driving" : WATCHING[now.phase];
  const use = chip.querySelector("use");
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, driving ? "#hand" : "#eye"));
}

function paintTools(driving) {
  for (const tool of document.querySelectorAll("[data-drive], [data-full]")) tool.hidden = false;
  for (const menu of document.querySelectorAll("#send-keys")) menu.hidden = !driving;
  const drive = part("drive");
  if (!drive) return;
  drive.querySelector("span").textContent = driving ? "Leave control" : "Take control";
  drive.classList.toggle("human", !driving);
  drive.querySelector("kbd").textContent = driving ? "Ctrl+Alt+Shift" : "t";
  drive.setAttribute("aria-pressed", String(driving));
}

function follow() {
  const { state } = stage.querySelector("[data-live=veil]").dataset;
  if (state === "ready") viewer.start();
  else if (viewer.phase !== "idle") viewer.stop();
  if (!KEEPS_FRAME.includes(state)) viewer.frozen.hidden = true;
  paint(viewer);
}

function toggleFull(wanted) {
  const full = document.documentElement.classList.toggle("full", wanted);
  const button = part("full");
  if (!button) return;
  button.setAttribute("aria-pressed", String(full));
  button.querySelector("span").textContent = full ? "Leave full window" : "Full window";
}

function press(button) {
  viewer.send(combination(button.dataset.combo.split(" ")));
  button.closest("details").open = false;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.matches("[data-drive]")) viewer.take(viewer.role === "drive" ? "view" : "drive");
  else if (button?.matches("[data-full]")) toggleFull();
  else if (button?.matches("[data-combo]")) press(button);
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.matches("[data-paste]")) {
    event.preventDefault();
    const keys = keysymsOf(form.elements.paste.value).map((symbol) => [symbol, null]);
    if (viewer.send(keys)) form.reset();
  } else if (form.matches("[data-stays]")) {
    event.preventDefault();
    await submitHere(form);
  }
});

async function submitHere(form) {
  try {
    const answer = await post(form.action, new FormData(form));
    form.reset();
    sayAll(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    say("That did not work; the server does not answer as it should.", "error");
  }
}

addEventListener(
  "keydown",
  (event) => {
    if (viewer.role === "drive" && isLeaveChord(event)) viewer.take("view");
    else if (event.key === "Escape" && viewer.role !== "drive" && !document.querySelector("dialog[open]")) {
      toggleFull(false);
    }
  },
  { capture: true },
);

document.addEventListener("live:refreshed", follow);
follow();
