import assert from "node:assert/strict";
import test from "node:test";

import { differs, following, indexOf, rowOf, spoken, standing } from "../../static/js/lib/aligned.js";

const step = (number, sentence = "Clicked") => ({ number, sentence });
const rows = [
  { number: 0, kin: "", a: step(3), b: step(3) },
  { number: 1, kin: "same", a: step(4), b: step(4) },
  { number: 2, kin: "only-a", a: step(5), b: null },
  { number: 3, kin: "changed", a: step(6, "Typed x"), b: step(5, "Typed y") },
  { number: 4, kin: "only-b", a: null, b: step(6) },
];

test("it stands at the last step when a side has none in the row", () => {
  assert.deepEqual(standing(rows, 3, "b"), { cell: step(5, "Typed y"), past: false });
  assert.deepEqual(standing(rows, 2, "b"), { cell: step(4), past: true });
  assert.deepEqual(standing(rows, 4, "a"), { cell: step(6, "Typed x"), past: true });
  assert.deepEqual(standing([], 1, "a"), { cell: null, past: true });
});

test("it finds the next row and the next difference, and stays at the ends", () => {
  assert.equal(following(rows, 1, 1), 2);
  assert.equal(following(rows, 0, 1, differs), 2);
  assert.equal(following(rows, 4, -1, differs), 3);
  assert.equal(following(rows, 4, 1), 4);
  assert.equal(following(rows, 0, -1), 0);
});

test("it scrubs each side over its own steps", () => {
  assert.equal(rowOf(rows, "b", 3), 4);
  assert.equal(rowOf(rows, "b", 99), 4);
  assert.equal(indexOf(rows, "b", 4), 3);
  assert.equal(indexOf(rows, "b", 2), 1);
  assert.equal(rowOf(rows, "a", indexOf(rows, "a", 3)), 3);
});

test("it says what a row is", () => {
  assert.equal(spoken(rows[3], 4), "Row 3 of 4, changed: A step 6, Typed x; B step 5, Typed y");
  assert.equal(spoken(rows[2], 4), "Row 2 of 4, only a: A step 5, Clicked; B nothing");
  assert.equal(spoken(rows[0], 4), "Last common step, Clicked");
});
