import assert from "node:assert/strict";
import test from "node:test";

import { afterClose, afterRefusal } from "../../static/js/lib/closecodes.js";
import { describe } from "../../static/js/lib/connection.js";

test("it comes back at once, once, after an end that means nothing", () => {
  for (const code of [4401, 4001, 4409]) {
    assert.equal(afterClose(code, false).next, "renew");
    assert.equal(afterClose(code, true).next, "retry");
  }
});

test("it stops when the machine is gone or the browser is not understood", () => {
  for (const code of [4404, 4400]) {
    assert.equal(afterClose(code, false).next, "stop");
    assert.notEqual(afterClose(code, false).text, "");
  }
});

test("it tries again after any other end", () => {
  for (const code of [1000, 1005, 1006, 1011, 1013]) assert.equal(afterClose(code, false).next, "retry");
});

test("it watches when it may not drive", () => {
  assert.equal(afterRefusal(403).next, "watch");
  assert.equal(afterRefusal(404).next, "stop");
  for (const status of [0, 409, 500, 502]) assert.equal(afterRefusal(status).next, "retry");
});

test("it says how the connection is", () => {
  const asOf = new Date(2026, 0, 2, 12, 3, 41);
  const at = (facts) => describe({ open: false, wait: 0, reachable: true, asOf, ...facts });
  assert.deepEqual(at({ open: true }), { state: "connected", text: "Connected" });
  assert.deepEqual(at({ wait: 3 }), { state: "waiting", text: "Reconnecting in 3 s" });
  assert.deepEqual(at({ reachable: false }), { state: "offline", text: "Offline, data as of 12:03" });
});
