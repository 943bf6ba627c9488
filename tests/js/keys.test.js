import assert from "node:assert/strict";
import test from "node:test";

import { isLeaveChord, mayAct } from "../../static/js/lib/keyguard.js";
import { combination, keysymsOf } from "../../static/js/lib/keysyms.js";
import { Sequence } from "../../static/js/lib/sequence.js";

const on = (...matching) => ({
  closest: (selector) => matching.some((name) => selector.split(", ").includes(name)) || null,
});

test("it acts on a bare key in the page", () => {
  assert.equal(mayAct({ key: "n", target: on() }), true);
});

test("it never acts in a field, on the desktop or behind a dialog", () => {
  for (const place of ["textarea", "canvas", "[data-screen]", "select", "dialog[open]"]) {
    assert.equal(mayAct({ key: "n", target: on(place) }), false, place);
  }
});

test("it leaves the browser's own shortcuts alone", () => {
  for (const modifier of ["ctrlKey", "altKey", "metaKey", "repeat", "isComposing", "defaultPrevented"]) {
    assert.equal(mayAct({ key: "n", target: on(), [modifier]: true }), false, modifier);
  }
});

test("it knows the chord that leaves control", () => {
  const all = { ctrlKey: true, altKey: true, shiftKey: true };
  assert.equal(isLeaveChord({ ...all, key: "Shift" }), true);
  assert.equal(isLeaveChord({ ...all, key: "T" }), false);
  assert.equal(isLeaveChord({ ...all, altKey: false, key: "Shift" }), false);
});

test("it joins two keys pressed shortly after one another", () => {
  const sequence = new Sequence(["g"]);
  assert.equal(sequence.press("g", 0), null);
  assert.equal(sequence.press("d", 400), "g d");
  assert.equal(sequence.press("d", 500), "d");
});

test("it forgets the first key after a while", () => {
  const sequence = new Sequence(["g"]);
  sequence.press("g", 0);
  assert.equal(sequence.press("n", 5000), "n");
});

test("it types text as key symbols", () => {
  assert.deepEqual(keysymsOf("aé€\r\n\t\u0007"), [0x61, 0xe9, 0x010020ac, 0xff0d, 0xff09]);
  assert.deepEqual(keysymsOf("😀"), [0x0101f600]);
});

test("it releases a combination in reverse", () => {
  const order = combination(["Control", "Alt", "Delete"]).map(([, code, down]) => `${code} ${down}`);
  assert.deepEqual(order, [
    "ControlLeft true",
    "AltLeft true",
    "Delete true",
    "Delete false",
    "AltLeft false",
    "ControlLeft false",
  ]);
});
