import assert from "node:assert/strict";
import test from "node:test";

import { differing } from "../../static/js/lib/difference.js";

test("it says how much of a screen differs", () => {
  assert.equal(differing(0, 1000), "Nothing differs");
  assert.equal(differing(1, 1000), "Less than 1 % of the screen differs");
  assert.equal(differing(124, 1000), "12 % of the screen differs");
});
