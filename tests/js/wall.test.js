import assert from "node:assert/strict";
import { test } from "node:test";
import { arrowTarget } from "../../static/js/lib/grid.js";
import { LivePool } from "../../static/js/lib/livepool.js";

test("it keeps few tiles live, and the one looked at the longest ago gives way", () => {
  const pool = new LivePool(2);
  assert.deepEqual(pool.begin("a"), { begun: true, ending: [] });
  assert.deepEqual(pool.begin("b"), { begun: true, ending: [] });
  assert.deepEqual(pool.begin("a"), { begun: false, ending: [] });
  assert.deepEqual(pool.begin("c"), { begun: true, ending: ["b"] });
  assert.equal(pool.live.size, 2);
});

test("it keeps pinned tiles, and begins no other when all are pinned", () => {
  const pool = new LivePool(2);
  pool.begin("a", { pinned: true });
  pool.begin("b", { pinned: true });
  assert.deepEqual(pool.begin("c"), { begun: false, ending: [] });
  assert.equal(pool.leave("a"), false);
  assert.deepEqual(pool.begin("d", { pinned: true }), { begun: true, ending: ["a"] });
  pool.unpin("b");
  assert.equal(pool.leave("b"), true);
  assert.equal(pool.isPinned("d"), true);
});

test("it moves over a grid by arrows, and stays at its edges", () => {
  const boxes = [0, 1, 2, 3, 4].map((n) => ({ left: 100 * (n % 3), top: 80 * Math.floor(n / 3) }));
  assert.equal(arrowTarget(boxes, 1, "ArrowRight"), 2);
  assert.equal(arrowTarget(boxes, 0, "ArrowLeft"), 0);
  assert.equal(arrowTarget(boxes, 1, "ArrowDown"), 4);
  assert.equal(arrowTarget(boxes, 2, "ArrowDown"), 4);
  assert.equal(arrowTarget(boxes, 4, "ArrowUp"), 1);
  assert.equal(arrowTarget(boxes, 4, "ArrowDown"), 4);
  assert.equal(arrowTarget(boxes, 4, "Home"), 0);
  assert.equal(arrowTarget(boxes, 0, "End"), 4);
});
