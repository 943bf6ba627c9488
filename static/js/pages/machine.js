import { chip } from "../lib/control.js";
import { clock } from "../lib/elapsed.js";
import { isLeaveChord, isSendChord } from "../lib/keyguard.js";
import { combination, keysymsOf } from "../lib/keysyms.js";
import { Refused, post } from "../lib/post.js";
import { BeforeAfter } from "../parts/beforeafter.js";
import { Lease } from "../parts/lease.js";
import { say, sayAll } from "../parts/toasts.js";
import { Viewer } from "../parts/viewer.js";

const stage = document.querySelector("[data-viewer]");
const said = stage.querySelector("[data-said]");
const who = document.querySelector("[data-who]");
// While one of these lasts, the last frame is still what the machine looks like.
const KEEPS_FRAME = ["ready", "stopping", "stopped"];
const AWAY = { connecting: "Connecting", waiting: "Not connected" };
const differs = document.querySelector("[data-differs]");
const beforeAfter = differs && new BeforeAfter(differs);
const part = (name) => document.querySelector(`[data-${name}]`);

let lease = null;
const viewer = new Viewer({
  screen: stage.querySelector("[data-screen]"),
  frozen: stage.querySelector("[data-frozen]"),
  ticketUrl: stage.dataset.ticket,
  role: "view",
  changed: paint,
});
lease = new Lease({ root: document.querySelector(".driver"), viewer, changed: () => paint(viewer) });

function sentence({ phase, text, wait, frozenAt }) {
  if (text) return text;
  const missing = frozenAt ? `Showing the frame from ${clock(frozenAt)}.` : "The desktop cannot be reached.";
  if (phase === "waiting") return `${missing} Trying again in ${wait} s`;
  if (phase === "connecting" && !frozenAt) return "Connecting to the desktop";
  return "";
}

/** Longer than a display that a snapshot has cut off, which is back at once. */
function isAway({ phase, attempt }) {
  return phase === "waiting" || phase === "stopped" || (phase === "connecting" && attempt > 0);
}

function paint(now) {
  const driving = now.driving && now.phase === "live";
  stage.dataset.mode = driving ? "drive" : "view";
  stage.dataset.phase = now.phase;
  const text = sentence(now);
  said.hidden = !text;
  said.textContent = text;
  now.frozen.classList.toggle("dim", isAway(now));
  paintWho(now);
  paintTools(driving);
}

function paintWho({ phase }) {
  const place = who.querySelector("[data-who-chip]");
  const away = AWAY[phase];
  const facts = lease?.facts;
  const { icon, tone, text } = away || !facts ? { icon: "eye", tone: "wait", text: away } : chip(facts);
  place.hidden = phase === "idle" || phase === "stopped" || !text;
  for (const name of ["human", "run", "wait"]) place.classList.toggle(name, name === tone);
  place.querySelector("span").textContent = text;
  const use = place.querySelector("use");
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${icon}`));
  who.querySelector("[data-doing]").textContent = away ? "" : (facts?.doing ?? "");
}

function paintTools(driving) {
  for (const tool of document.querySelectorAll("[data-full]")) tool.hidden = false;
  for (const menu of document.querySelectorAll("#send-keys")) menu.hidden = !driving;
}

function follow() {
  const { state } = stage.querySelector("[data-live=veil]").dataset;
  lease.read();
  if (lease.facts) viewer.role = lease.facts.may_drive ? "drive" : "view";
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
  if (button?.matches("[data-drive]")) control(button.dataset.verb);
  else if (button?.matches("[data-control]")) control(button.dataset.control);
  else if (button?.matches("[data-chip]")) addWords(button);
  else if (button?.matches("[data-full]")) toggleFull();
  else if (button?.matches("[data-combo]")) press(button);
});

function control(verb) {
  const verbs = {
    handback: openHandback,
    take: () => lease.take(),
    interrupt: () => lease.take({ interrupt: true }),
    withdraw: () => lease.withdraw(),
    extend: () => lease.extend(),
  };
  (verbs[verb] ?? (() => lease.act(verb)))();
}

function leave() {
  control(lease.facts.agent ? "handback" : "back");
}

/** A person at the words has the keys, and the desktop waits. Writing them counts as use. */
function openHandback() {
  const dialog = document.getElementById("handback");
  if (dialog.open) return;
  viewer.letGo();
  const { may_branch: mayBranch, recorded, before } = lease.facts;
  dialog.querySelector("[data-may-branch]").hidden = !mayBranch;
  for (const line of dialog.querySelectorAll("[data-recorded]")) line.hidden = line.dataset.recorded !== (recorded ? "yes" : "no");
  beforeAfter.open(before, viewer.picture());
  dialog.querySelector("[data-says]").replaceChildren();
  dialog.showModal();
  lease.paint();
}

function addWords(chip) {
  const note = document.getElementById("handback-note");
  note.value = `${note.value.trimEnd()} ${chip.dataset.chip}`.trimStart();
  note.focus();
}

/** Once, however often a key repeats. */
async function handBack(form) {
  if (form.dataset.sending) return;
  form.dataset.sending = "yes";
  try {
    if (!(await lease.act("back", new FormData(form)))) return;
    form.reset();
    form.closest("dialog").close();
  } finally {
    delete form.dataset.sending;
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.matches("[data-handback]")) {
    event.preventDefault();
    await handBack(form);
  } else if (form.matches("[data-forcing]")) {
    event.preventDefault();
    form.closest("dialog").close();
    await lease.act("force");
  } else if (form.matches("[data-paste]")) {
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
    say(error.words(), "error");
  }
}

addEventListener(
  "keydown",
  (event) => {
    const form = isSendChord(event) && event.target.closest("[data-handback]");
    if (form && !event.repeat) form.requestSubmit();
    else if (lease.driving && isLeaveChord(event)) leave();
    else if (event.key === "Escape" && !lease.driving && !document.querySelector("dialog[open]")) {
      toggleFull(false);
    }
  },
  { capture: true },
);

document.getElementById("handback")?.addEventListener("close", () => viewer.focus());
document.addEventListener("live:refreshed", follow);
lease.start();
follow();
