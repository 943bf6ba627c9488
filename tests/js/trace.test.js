import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";

import { Sequence } from "../../static/js/lib/sequence.js";
import { bySteps, byTime } from "../../static/js/lib/trace-film.js";
import { commandOf } from "../../static/js/lib/trace-keymap.js";
import { TraceModel } from "../../static/js/lib/trace-model.js";
import { shifted, stay } from "../../static/js/lib/trace-pace.js";
import { Path } from "../../static/js/lib/trace-path.js";
import { InlineSource, ServerSource } from "../../static/js/lib/trace-source.js";
import { clock, facts, valueText } from "../../static/js/lib/trace-words.js";

const DATA = { branch: "b1", seqs: [1, 2, 4, 3], codes: "-.x.", people: [0], forks: [1] };
const card = (seq, more = {}) => ({ seq, branch: "b1", text: `step ${seq}`, code: ".", by: "agent", at: seq * 1000, ...more });

test("it knows where each step is on its path", () => {
  const path = new Path(DATA);
  assert.deepEqual(path.seqs, [1, 3, 7, 10]);
  assert.deepEqual([1, 3, 7, 10, 2, 99].map((seq) => path.indexOf(seq)), [0, 1, 2, 3, -1, -1]);
  assert.deepEqual([0, 5, 99].map((seq) => path.nearest(seq)), [0, 1, 3]);
});

test("it finds errors, people and forks in both directions", () => {
  const path = new Path(DATA);
  assert.equal(path.next(0, 1, (place) => path.isError(place)), 2);
  assert.equal(path.next(3, -1, (place) => path.isMarked(place)), 2);
  assert.equal(path.next(2, -1, (place) => path.isMarked(place)), 1);
  assert.equal(path.next(2, 1, (place) => path.isError(place)), -1);
});

test("it learns new steps of its branch and new ends of old ones", () => {
  const path = new Path(DATA);
  assert.equal(path.learn({ seq: 12, branch: "b1", code: "o", by: "agent" }), true);
  assert.equal(path.learn({ seq: 12, branch: "b1", code: "x", by: "agent" }), false);
  assert.equal(path.learn({ seq: 13, branch: "main", code: ".", by: "agent" }), false);
  assert.deepEqual([path.length, path.isError(4)], [5, true]);
});

const press = (key, more = {}) => ({ key, timeStamp: 0, ...more });
const on = (selector) => ({
  closest: (wanted) => wanted.split(",").some((one) => one.trim() === selector),
  matches: (wanted) => wanted === selector,
});

test("it names the command of every key of the trace page", () => {
  const table = {
    ArrowLeft: "previous", k: "previous", ArrowRight: "next", j: "next", h: "previousBranch", l: "nextBranch",
    G: "last", Home: "first", End: "last", " ": "play", "<": "slower", ">": "faster", ".": "nextError",
    ",": "previousError", 1: "tab1", 6: "tab6", b: "before", a: "after", d: "diff", m: "marks", f: "full",
    x: "compare", v: "divergence", c: "copy", "/": "search", n: "nextHit", N: "previousHit", L: "live",
    Escape: "escape", r: undefined, "?": undefined,
  };
  for (const [key, command] of Object.entries(table)) {
    assert.equal(commandOf(press(key), new Sequence(["g"])), command, key);
  }
  assert.equal(commandOf(press("ArrowRight", { shiftKey: true }), new Sequence(["g"])), "nextMarked");
});

test("it waits for the second g", () => {
  const sequence = new Sequence(["g"]);
  assert.equal(commandOf(press("g"), sequence), undefined);
  assert.equal(commandOf(press("g"), sequence), "first");
});

test("it leaves keys to fields, ranges, trees and pressed things", () => {
  const none = (key, selector) => assert.equal(commandOf(press(key, { target: on(selector) }), new Sequence([])), undefined);
  none("k", "textarea");
  none("ArrowLeft", "input[type=range]");
  none("ArrowRight", "[role=tree]");
  none(" ", "button");
  assert.equal(commandOf(press("k", { target: on("input[type=range]") }), new Sequence([])), "previous");
  assert.equal(commandOf(press("k", { ctrlKey: true }), new Sequence([])), undefined);
  assert.equal(commandOf(press("m", { repeat: true }), new Sequence([])), undefined);
  assert.equal(commandOf(press("j", { repeat: true }), new Sequence([])), "next");
});

test("it plays as fast as things happened, but cuts idle gaps", () => {
  assert.equal(stay(card(1, { at: 0 }), card(2, { at: 900 }), 1), 900);
  assert.equal(stay(card(1, { at: 0 }), card(2, { at: 60_000 }), 1), 2000);
  assert.equal(stay(card(1, { at: 0 }), card(2, { at: 60_000 }), 4), 500);
  assert.equal(stay(card(1, { at: 0 }), card(2, { at: 0 }), 1), 120);
  assert.equal(stay(undefined, undefined, 1), 1000);
  assert.deepEqual([shifted(1, 1), shifted(4, 1), shifted(0.5, -1)], [2, 4, 0.5]);
});

test("it keeps the tiles in view and a few beside them", () => {
  assert.deepEqual(bySteps(1000).inView(1440, 720), { start: 6, end: 20 });
  assert.deepEqual(bySteps(3).inView(0, 720), { start: 0, end: 3 });
});

test("it makes each tile as wide as its step lasted, and cuts what was idle", () => {
  const layout = byTime([0, 1000, 1010, 61_010]);
  assert.deepEqual(layout.lefts, [0, 72, 108, 252]);
  assert.deepEqual([...layout.cuts], [[2, 58_000]]);
  assert.equal(layout.end, 252 + 144);
  assert.deepEqual([0, 71, 72, 200, 999].map((x) => layout.at(x)), [0, 0, 1, 2, 3]);
});

test("it says times and places in words", () => {
  assert.deepEqual([0, 61_000, 3_723_000].map(clock), ["0:00", "1:01", "1:02:03"]);
  assert.equal(valueText(14, 63, card(9, { text: "Clicked Save", at: 42_000 })), "Step 14 of 63, Clicked Save, 0:42");
  assert.equal(valueText(14, 63, undefined), "Step 14 of 63");
  const seen = card(9, { text: "Clicked", settled: 182, change: 2.123, size: [1280, 800] });
  assert.equal(facts(14, seen), "14 Clicked · settled 182 ms · 2.1 % changed · 1280×800");
});

const BEGIN = { trace: "t", base: "/t/", revision: 4, live: true, current: 7, tab: "action", view: "action", branches: [] };

test("it asks for the cards it does not know, once", async () => {
  const asked = [];
  const source = { steps: async (seqs) => asked.push(seqs) && seqs.map((seq) => card(seq)) };
  const model = new TraceModel({ ...BEGIN, path: DATA, steps: [card(7)], sheet: {} }, source);
  await Promise.all([model.need(0), model.need(3)]);
  assert.deepEqual(asked, [[1, 3, 10]]);
  assert.equal(model.cardAt(3).text, "step 10");
});

test("it stays on the step when another branch has it too", async () => {
  const main = { branch: "main", seqs: [1, 2, 3, 1], codes: "----", people: [], forks: [] };
  const source = { path: async () => main, steps: async () => [] };
  const model = new TraceModel({ ...BEGIN, current: 3, path: DATA, steps: [], sheet: {} }, source);
  await model.follow("main");
  assert.deepEqual([model.path.branch, model.seq], ["main", 3]);
  model.go(99);
  assert.equal(model.number, 4);
});

test("it stays within a window until it is left", async () => {
  const model = new TraceModel({ ...BEGIN, path: DATA, steps: [], sheet: {} }, { steps: async () => [] });
  model.choose(3, 1);
  assert.deepEqual([model.first, model.last, model.holds(0), model.holds(2)], [1, 3, false, true]);
  model.go(0);
  assert.equal(model.index, 1);
  await model.goTo(1);
  assert.deepEqual([model.window, model.index], [null, 0]);
  model.choose(0, 99);
  assert.equal(model.window, null);
});

test("it knows when each step was, and learns of those that come", async () => {
  const source = { times: async () => [0, 10, 20, 30], steps: async () => [] };
  const model = new TraceModel({ ...BEGIN, path: DATA, steps: [], sheet: {} }, source);
  assert.deepEqual(await model.clock(), [0, 10, 20, 30]);
  model.learn({ revision: 9, live: true, steps: [card(11, { at: 44 })] });
  assert.deepEqual(await model.clock(), [0, 10, 20, 30, 44]);
});

test("it grows with what the server says", () => {
  const model = new TraceModel({ ...BEGIN, path: DATA, steps: [], sheet: {} }, {});
  const said = [];
  for (const type of ["path", "cards"]) model.addEventListener(type, () => said.push(type));
  model.learn({ revision: 9, live: true, steps: [card(11)] });
  model.learn({ revision: 10, live: false, steps: [card(11, { code: "x" })] });
  assert.deepEqual([said, model.path.length, model.path.isError(4), model.live], [["path", "cards"], 5, true, false]);
});

test("it builds addresses of the server", () => {
  const source = new ServerSource("/traces/t/");
  assert.equal(source.picture("ab"), "/traces/t/pictures/ab");
  assert.equal(source.sheet({ branch: "a b", first: 1, last: 9, number: 0 }), "/traces/t/sheets/1-9.webp?branch=a+b");
});

test("it needs no server when all is in the page", async () => {
  const rest = {
    paths: { b1: DATA },
    steps: { 1: card(1), 3: card(3, { text: "Opened the invoice" }) },
    details: { "3/action": '<img src="#picture-ab"><a href="#file-3">' },
    runs: { "1-3": "<a>" },
    words: { 1: "Quarterly report" },
  };
  const page = {
    "trace-packed": gzipSync(JSON.stringify(rest)).toString("base64"),
    "picture-ab": "data:image/webp;base64,AA",
    "sheet-1": "data:image/webp;base64,BB",
  };
  const source = new InlineSource({ inline: { sheets: { "b1/0": "sheet-1" } } }, (id) => page[id] ?? "");
  assert.equal((await source.path("b1")).branch, "b1");
  assert.deepEqual((await source.steps([3, 99])).map(({ seq }) => seq), [3]);
  assert.equal(await source.detail(3, { tab: "files" }), '<img src="data:image/webp;base64,AA"><a href="#">');
  assert.deepEqual((await source.search("INVOICE")).hits, [[3, "b1"]]);
  assert.deepEqual((await source.search("quarterly")).hits, [[1, "b1"]]);
  assert.deepEqual([await source.tree({ open: "1-3" }), await source.tree({})], ["<a>", ""]);
  assert.equal(source.sheet({ branch: "b1", number: 0 }), "data:image/webp;base64,BB");
});
