import assert from "node:assert/strict";
import test from "node:test";

import { delay } from "../../static/js/lib/backoff.js";

test("it waits longer each time and then stays patient", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 99].map(delay), [1, 2, 5, 10, 10, 10]);
});
