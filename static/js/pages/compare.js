import { differs, following, indexOf, rowOf, spoken, standing } from "../lib/aligned.js";
import { mayAct } from "../lib/keyguard.js";

const BLINK = 900;
const USUAL = { view: "side", moment: "after" };
const SVG = "http://www.w3.org/2000/svg";
const NO_PICTURE = "0".repeat(64);
const pair = document.querySelector("[data-pair]");
const list = document.querySelector("[data-lines]");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const links = pair ? [...list.querySelectorAll("a[data-row]")] : [];
const rows = links.map(read);
const last = rows.at(-1)?.number ?? 0;
const now = { a: 0, b: 0, active: "a", linked: true, blinking: null, begun: false };

function read(link) {
  const side = (letter) => {
    const cell = link.querySelector(`.cell[data-side="${letter}"]`);
    if (!cell) return null;
    const { number, seq, before, after, points } = cell.dataset;
    return { number, seq, before, after, points, sentence: cell.querySelector("[data-sentence]").textContent };
  };
  const kin = ["same", "changed", "only-a", "only-b"].find((name) => link.classList.contains(name)) ?? "";
  const a = side("A");
  return { number: Number(link.dataset.row), kin, a, b: kin ? side("B") : a };
}

function remember() {
  const address = new URLSearchParams(list.dataset.query);
  address.set("row", now[now.active]);
  for (const name of ["view", "moment"]) {
    if (pair.dataset[name] === USUAL[name]) address.delete(name);
    else address.set(name, pair.dataset[name]);
  }
  if (now.begun) history.replaceState(null, "", `?${address}`);
  for (const link of document.querySelectorAll("[data-set-moment]")) {
    address.set("moment", link.dataset.setMoment);
    link.href = `?${address}`;
  }
}

function circle(point, name) {
  const [x, y] = point.split(",");
  const ring = document.createElementNS(SVG, "circle");
  if (name) ring.setAttribute("class", name);
  ring.setAttribute("cx", x);
  ring.setAttribute("cy", y);
  ring.setAttribute("r", 20);
  return ring;
}

function caption(pane, cell, past) {
  if (!cell) return ["No step yet"];
  const link = document.createElement("a");
  link.href = `${pane.dataset.trace}?step=${cell.seq}`;
  const number = document.createElement("span");
  number.className = "num";
  number.textContent = cell.number;
  link.append("step ", number);
  const sentence = document.createElement("span");
  sentence.className = "quiet-text";
  sentence.textContent = past ? "" : ` ${cell.sentence}`;
  return [past ? "No step here; still after " : "", link, sentence];
}

function paintPane(side) {
  const pane = pair.querySelector(`[data-pane="${side}"]`);
  const { cell, past } = standing(rows, now[side], side);
  const { moment } = pair.dataset;
  const sha256 = cell?.[moment];
  const image = pane.querySelector("img");
  if (sha256) image.src = pane.dataset.pictures.replace(NO_PICTURE, sha256);
  image.hidden = !sha256;
  image.alt = cell ? `${side.toUpperCase()}, ${moment} step ${cell.number}: ${cell.sentence}` : side.toUpperCase();
  pane.querySelector(".no-picture").hidden = Boolean(sha256);
  pane.classList.toggle("past", past);
  pane.querySelector("[data-caption]").replaceChildren(...caption(pane, cell, past));
  const points = moment === "before" && !past && cell?.points ? cell.points.split(" ") : [];
  const rings = points.flatMap((point) => [circle(point, "under"), circle(point)]);
  pane.querySelector(".marks").replaceChildren(...rings);
}

function paintRows() {
  for (const link of links) {
    const at = ["a", "b"].filter((side) => Number(link.dataset.row) === now[side]);
    if (at.length) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  const row = rows.find(({ number }) => number === now[now.active]);
  pair.querySelector("[data-place]").textContent = now.linked ? `${now.a} / ${last}` : `A ${now.a} · B ${now.b} / ${last}`;
  const scrub = pair.querySelector('[data-scrub="row"]');
  scrub.value = now.a;
  if (row) scrub.setAttribute("aria-valuetext", spoken(row, last));
  for (const side of ["a", "b"]) {
    const own = pair.querySelector(`[data-scrub="${side}"]`);
    const { cell } = standing(rows, now[side], side);
    own.min = 0;
    own.max = indexOf(rows, side, last);
    own.value = indexOf(rows, side, now[side]);
    if (cell) own.setAttribute("aria-valuetext", `Step ${cell.number}, ${cell.sentence}`);
  }
}

function paint() {
  paintPane("a");
  paintPane("b");
  paintRows();
  remember();
}

/** The list scrolls, never the page: the pictures stay in sight. */
function reveal(link) {
  const above = link.offsetTop - list.offsetTop;
  const below = above + link.offsetHeight - list.clientHeight;
  list.scrollTop = Math.max(below, Math.min(above, list.scrollTop));
}

/** Both sides go to the row; when they are scrubbed apart, the active one only. */
function go(number, { together = now.linked, focus = false } = {}) {
  for (const side of together ? ["a", "b"] : [now.active]) now[side] = number;
  paint();
  const link = links.find((each) => Number(each.dataset.row) === number);
  if (focus) link?.focus({ preventScroll: true });
  if (link) reveal(link);
}

function show(side) {
  pair.dataset.shows = side;
  for (const button of pair.querySelectorAll("[data-show]")) {
    button.setAttribute("aria-pressed", String(button.dataset.show === side));
  }
}

function setView(view) {
  pair.dataset.view = view;
  for (const button of pair.querySelectorAll("[data-set-view]")) {
    button.setAttribute("aria-pressed", String(button.dataset.setView === view));
  }
  pair.querySelector('[data-knob="wipe"]').hidden = view !== "slider";
  wipe();
  clearInterval(now.blinking);
  if (view === "blink" && !still.matches) {
    now.blinking = setInterval(() => show(pair.dataset.shows === "a" ? "b" : "a"), BLINK);
  }
  remember();
}

function setMoment(moment) {
  pair.dataset.moment = moment;
  for (const link of pair.querySelectorAll("[data-set-moment]")) {
    if (link.dataset.setMoment === moment) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  paint();
}

function setLinked(linked) {
  now.linked = linked;
  const button = pair.querySelector("[data-link]");
  button.setAttribute("aria-pressed", String(linked));
  const use = button.querySelector("use");
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, linked ? "#link" : "#unlink"));
  button.querySelector(".label").textContent = linked ? "Linked" : "Apart";
  for (const knob of ["row", "a", "b"]) pair.querySelector(`[data-knob="${knob}"]`).hidden = (knob === "row") !== linked;
  go(now[now.active]);
}

function wipe() {
  const share = pair.dataset.view === "slider" ? pair.querySelector("[data-wipe]").value : 0;
  pair.querySelector('[data-pane="b"] .pane-shot').style.clipPath = share > 0 ? `inset(0 0 0 ${share}%)` : "";
}

function act(target) {
  const { row, to, move, setView: view, setMoment: moment, show: side, link } = target.dataset;
  if (row !== undefined) go(Number(row), { together: true });
  else if (to !== undefined) go(Number(to), { together: true, focus: true });
  else if (move !== undefined) go(following(rows, now[now.active], Number(move)));
  else if (view !== undefined) setView(view);
  else if (moment !== undefined) setMoment(moment);
  else if (link !== undefined) setLinked(!now.linked);
  else {
    clearInterval(now.blinking);
    show(side);
  }
}

const ACTING = "[data-row], [data-to], [data-move], [data-set-view], [data-set-moment], [data-show], [data-link]";

function onKey(event) {
  if (!mayAct({ ...guarded(event), repeat: false })) return;
  const way = { ArrowLeft: -1, ArrowRight: 1, ",": -1, ".": 1 }[event.key];
  const wanted = event.key === "," || event.key === "." ? differs : () => true;
  if (way) go(following(rows, now[now.active], way, wanted), { focus: true });
  else if (event.key === "Home") go(rows[0].number, { focus: true });
  else if (event.key === "End") go(last, { focus: true });
  else return;
  event.preventDefault();
}

/** A key that is held down moves on. */
function guarded({ defaultPrevented, isComposing, ctrlKey, altKey, metaKey, target }) {
  return { defaultPrevented, isComposing, ctrlKey, altKey, metaKey, target };
}

function start() {
  const wanted = Number(list.querySelector("[aria-current]")?.dataset.row ?? 0);
  pair.classList.add("live");
  for (const part of pair.querySelectorAll("[data-live-only]")) part.hidden = false;
  now.a = wanted;
  now.b = wanted;
  document.addEventListener("click", (event) => {
    const target = event.target.closest(ACTING);
    if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    act(target);
  });
  pair.addEventListener("input", ({ target }) => {
    const side = target.dataset.scrub;
    if (side === "row") go(Number(target.value));
    else if (side) {
      now.active = side;
      go(rowOf(rows, side, Number(target.value)));
    } else wipe();
  });
  if (document.body.dataset.keys !== "off") document.addEventListener("keydown", onKey);
  setView(pair.dataset.view);
  setLinked(true);
  now.begun = true;
}

if (rows.length) start();
