import assert from "node:assert/strict";
import { test } from "node:test";

import { added, parsed } from "../../static/js/lib/rectangles.js";

const SIZE = { width: 1280, height: 800 };

test("it reads rectangles and leaves out what is none", () => {
  assert.deepEqual(parsed("1 2 3 4\nnonsense\n 5, 6, 7, 8 \n1 2 3"), [
    { x: 1, y: 2, width: 3, height: 4 },
    { x: 5, y: 6, width: 7, height: 8 },
  ]);
});

test("it adds a drag in any direction, cut at the edges", () => {
  assert.equal(added("", { x: 100, y: 50 }, { x: 40, y: 20.4 }, SIZE), "40 20 60 30");
  assert.equal(added("1 2 3 4\n\n", { x: -9, y: 700 }, { x: 99999, y: 9999 }, SIZE), "1 2 3 4\n0 700 1280 100");
});

test("it takes a click for no rectangle", () => {
  assert.equal(added("1 2 3 4", { x: 10, y: 10 }, { x: 12, y: 40 }, SIZE), "1 2 3 4");
});
