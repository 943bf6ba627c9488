import assert from "node:assert/strict";
import test from "node:test";

import { delay } from "../../static/js/lib/backoff.js";

test("it tries every second while a restart lasts, then waits longer each time and stays patient", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 99].map(delay), [1, 1, 1, 1, 1, 2, 5, 10, 10, 10]);
});
