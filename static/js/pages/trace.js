import { keep, kept } from "../lib/kept.js";
import { Sequence } from "../lib/sequence.js";
import { commandOf } from "../lib/trace-keymap.js";
import { TraceModel } from "../lib/trace-model.js";
import { sourceOf } from "../lib/trace-source.js";
import { valueText } from "../lib/trace-words.js";
import { Detail } from "../parts/trace/detail.js";
import { calmly, find, tell } from "../parts/trace/dom.js";
import { Film } from "../parts/trace/film.js";
import { Live } from "../parts/trace/live.js";
import { Menu } from "../parts/trace/menu.js";
import { Player } from "../parts/trace/player.js";
import { Scrubber } from "../parts/trace/scrubber.js";
import { Search } from "../parts/trace/search.js";
import { Stage } from "../parts/trace/stage.js";
import { Tree } from "../parts/trace/tree.js";
import { Range, installPace } from "../parts/trace/window.js";

const TABS = ["action", "reasoning", "observation", "model", "files", "notes"];
const data = JSON.parse(document.getElementById("trace-data").textContent);

if (data.current === null) {
  if (data.live) setInterval(() => location.reload(), 3000);
} else start();

function start() {
  const source = sourceOf(data);
  const model = new TraceModel(data, source);
  const hits = new Set();
  const stage = new Stage(model);
  const film = new Film(model, { hits });
  const scrubber = new Scrubber(model, film, { hits, say: valueText });
  const detail = new Detail(model);
  const tree = new Tree(model);
  const player = new Player(model);
  const search = new Search(model, hits, () => {
    film.repaint();
    scrubber.paintTicks();
    remember();
  });
  const live = new Live(model, { film, tree, detail });
  new Menu(model, { copy: copyLink, note: (seq, branch) => note(model, detail, seq, branch) });
  const range = new Range(model, film);
  installPace(film, { remembered: kept("film"), remember: (pace) => keep("film", pace) });
  const commands = commandsOf({ model, stage, player, search, live, range });
  const remember = calmly(() => rememberState(model, search), 120);

  const announce = calmly(() => {
    find("say").textContent = valueText(model.number, model.path.length, model.card);
  }, 600);

  for (const type of ["step", "look", "path", "window"]) model.addEventListener(type, remember);
  model.addEventListener("step", announce);
  installClicks({ model, commands });
  if (document.body.dataset.keys !== "off") installKeys(commands);
  if (model.live && source.grows) live.start();
  for (const button of document.querySelectorAll("[data-fold]")) {
    button.hidden = false;
    if (kept(button.dataset.fold) === "folded") fold(button);
  }
}

function commandsOf({ model, stage, player, search, live, range }) {
  const moved = (act) => () => {
    player.stop();
    act();
  };
  const jump = (direction, right) =>
    moved(() => {
      const place = model.path.next(model.index, direction, right);
      if (place >= 0 && model.holds(place)) model.go(place);
    });
  const error = (place) => model.path.isError(place);
  const marked = (place) => model.path.isMarked(place);
  return {
    previous: moved(() => model.go(model.index - 1)),
    next: moved(() => model.go(model.index + 1)),
    first: moved(() => model.go(0)),
    last: moved(() => model.go(model.path.length - 1)),
    previousMarked: jump(-1, marked),
    nextMarked: jump(1, marked),
    previousError: jump(-1, error),
    nextError: jump(1, error),
    previousBranch: moved(() => neighbour(model, -1)),
    nextBranch: moved(() => neighbour(model, 1)),
    play: () => player.toggle(),
    slower: () => player.shift(-1),
    faster: () => player.shift(1),
    before: () => model.look({ view: "before" }),
    after: () => model.look({ view: "after" }),
    diff: () => model.look({ view: "diff" }),
    marks: () => stage.toggleMarks(),
    text: () => stage.toggleText(),
    zoom: () => stage.scale(stage.zoom === 1 ? 0 : 1),
    full: () => toggleFull(),
    compare: () => compare(model),
    divergence: moved(() => firstFork(model)),
    copy: () => copyLink(model.seq),
    nextHit: () => search.active && search.move(1),
    previousHit: () => search.active && search.move(-1),
    live: () => model.live && live.jump(),
    search: () => search.field.focus(),
    escape: () => escape(player, search, range),
    ...Object.fromEntries(TABS.map((tab, place) => [`tab${place + 1}`, () => model.look({ tab })])),
    hasHits: () => search.active,
  };
}

function installKeys(commands) {
  const sequence = new Sequence(["g"]);
  document.addEventListener(
    "keydown",
    (event) => {
      const command = commandOf(event, sequence);
      if (!command) return;
      const searching = command === "nextHit" || command === "previousHit";
      if (searching && !commands.hasHits()) return;
      commands[command]();
      // The shell's own keys wait for a second key after "g" too, and must see both.
      if (command !== "first" || event.key !== "g") event.preventDefault();
    },
    { capture: true },
  );
}

function installClicks({ model, commands }) {
  const acts = [
    ["[data-go]", (element) => commands[element.dataset.go]()],
    ["a[data-view]", (element) => model.look({ view: element.dataset.view })],
    ["a[data-tab]", (element) => model.look({ tab: element.dataset.tab })],
    ["[data-marks]", () => commands.marks()],
    ["[data-text]", () => commands.text()],
    ["[data-zoom]", () => commands.zoom()],
    ["[data-full]", () => commands.full()],
    ["[data-copy]", () => commands.copy()],
    [".detail-panel a[data-seq]", (element) => model.goTo(Number(element.dataset.seq))],
    ["[data-fold]", (element) => fold(element)],
  ];
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    for (const [selector, act] of acts) {
      const element = event.target.closest(selector);
      if (!element) continue;
      event.preventDefault();
      act(element);
      return;
    }
  });
}

function fold(button) {
  const folded = find("trace").classList.toggle(`no-${button.dataset.fold}`);
  button.setAttribute("aria-pressed", String(!folded));
  keep(button.dataset.fold, folded ? "folded" : "");
}

function neighbour(model, direction) {
  const names = model.branches.map(({ name }) => name);
  const place = names.indexOf(model.heading) + direction;
  if (place >= 0 && place < names.length) model.follow(names[place]);
}

function firstFork(model) {
  const [first] = [...model.path.forks].sort((one, other) => one - other);
  if (first === undefined) tell("This trace has no second branch.");
  else model.go(first);
}

/** The first branch is remembered until a second one is chosen. */
function compare(model) {
  const link = find("compare");
  if (!link) return;
  const key = `compare-${model.trace}`;
  const [one, other] = [sessionStorage.getItem(key), model.heading];
  if (model.branches.length < 2) location.assign(link.href);
  else if (one && one !== other) {
    sessionStorage.removeItem(key);
    location.assign(`${link.href}?${new URLSearchParams({ a: one, b: other })}`);
  } else {
    sessionStorage.setItem(key, other);
    tell(`“${other}” is chosen. Go to another branch with h or l and press x again.`);
  }
}

async function copyLink(seq) {
  const link = new URL(location.href);
  link.search = new URLSearchParams({ step: seq });
  try {
    await navigator.clipboard.writeText(link.href);
    tell("The link to this step is copied.");
  } catch {
    tell(link.href);
  }
}

async function note(model, detail, seq, branch) {
  await model.goTo(seq, branch);
  model.look({ tab: "notes" });
  await detail.paint();
  document.getElementById("remark")?.focus();
}

function toggleFull(wanted) {
  const full = document.documentElement.classList.toggle("full", wanted);
  find("full").setAttribute("aria-pressed", String(full));
}

function escape(player, search, range) {
  if (document.documentElement.classList.contains("full")) toggleFull(false);
  else if (player.playing) player.stop();
  else if (search.active) search.clear();
  else if (range.active) range.clear();
}

function rememberState(model, search) {
  const { card, path, tab, view } = model;
  const query = new URLSearchParams({ step: model.seq });
  if (card && card.branch !== path.branch) query.set("branch", path.branch);
  if (tab !== "action") query.set("tab", tab);
  if (view !== "action") query.set("view", view);
  if (search.asked) query.set("q", search.asked);
  if (model.window) query.set("window", `${model.first + 1}-${model.last + 1}`);
  if (location.protocol !== "file:") history.replaceState(null, "", `?${query}`);
}
