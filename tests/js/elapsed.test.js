import assert from "node:assert/strict";
import test from "node:test";

import { clock, spoken } from "../../static/js/lib/elapsed.js";

// tests/web/test_elapsed.py holds the template filter to the same table.
const TABLE = [
  [-5, "0 s"],
  [59, "59 s"],
  [60, "1 min 0 s"],
  [3599, "59 min 59 s"],
  [3600, "1 h 0 min"],
  [86399, "23 h 59 min"],
  [90000, "1 d 1 h"],
];

test("it says how long with two units", () => {
  for (const [seconds, words] of TABLE) assert.equal(spoken(seconds * 1000), words);
});

test("it tells the time of day", () => {
  const date = new Date(2026, 0, 2, 7, 5, 9);
  assert.equal(clock(date), "07:05:09");
  assert.equal(clock(date, { seconds: false }), "07:05");
});
