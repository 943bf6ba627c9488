import assert from "node:assert/strict";
import test from "node:test";

import { sizeOf, unique, withBlock } from "../../static/js/lib/filelist.js";
import { isAtEnd } from "../../static/js/lib/following.js";

test("it finds a name that nobody has", () => {
  assert.equal(unique("a.csv", new Set()), "a.csv");
  assert.equal(unique("a.csv", new Set(["a.csv"])), "a (2).csv");
  assert.equal(unique("a.csv", new Set(["a.csv", "a (2).csv"])), "a (3).csv");
  assert.equal(unique(".env", new Set([".env"])), ".env (2)");
  assert.equal(unique("README", new Set(["README"])), "README (2)");
});

test("it says sizes as the templates do", () => {
  assert.equal(sizeOf(0), "0 bytes");
  assert.equal(sizeOf(1), "1 byte");
  assert.equal(sizeOf(1023), "1023 bytes");
  assert.equal(sizeOf(1024), "1.0 KB");
  assert.equal(sizeOf(3.5 * 1024 ** 2), "3.5 MB");
  assert.equal(sizeOf(5000 * 1024 ** 3), "5000.0 GB");
});

test("it adds a block after one empty line", () => {
  assert.equal(withBlock("", "[[check]]"), "[[check]]\n");
  assert.equal(withBlock("a = 1\n\n\n", "[[check]]\n"), "a = 1\n\n[[check]]\n");
});

test("it follows while the end is in sight", () => {
  assert.ok(isAtEnd({ scrollLeft: 0, scrollWidth: 500, clientWidth: 500 }));
  assert.ok(isAtEnd({ scrollLeft: 960, scrollWidth: 1500, clientWidth: 500 }));
  assert.ok(!isAtEnd({ scrollLeft: 400, scrollWidth: 1500, clientWidth: 500 }));
});
