import assert from "node:assert/strict";
import { test } from "node:test";

import { Taking } from "../../static/js/lib/taking.js";

const soon = () => new Promise((resolve) => setImmediate(resolve));

/** A server that gives in at the `last` step, and what it was told at each. */
function server(last) {
  const told = [];
  const step = async (interrupt) => {
    told.push(interrupt);
    await soon();
    return told.length < last;
  };
  return { told, taking: new Taking(step, soon) };
}

test("it asks until there is no more to ask", async () => {
  const { told, taking } = server(3);
  await taking.go();
  assert.deepEqual(told, [false, false, false]);
  assert.equal(taking.waited, null);
});

test("it goes on interrupting when the first time was too early", async () => {
  const { told, taking } = server(5);
  const way = taking.go();
  await soon();
  await taking.go({ interrupt: true });
  await way;
  assert.equal(told[0], false);
  assert.deepEqual(told.slice(2), [true, true, true]);
});

test("it does not interrupt the next time, unless told to", async () => {
  const { told, taking } = server(2);
  await taking.go({ interrupt: true });
  await taking.go();
  assert.deepEqual(told, [true, true, false]);
});

test("it has one step under way, however often it is told to go", async () => {
  let at = 0;
  let most = 0;
  const step = async () => {
    most = Math.max(most, ++at);
    await soon();
    at -= 1;
    return false;
  };
  const taking = new Taking(step, soon);
  await Promise.all([taking.go(), taking.go({ interrupt: true }), taking.go()]);
  assert.equal(most, 1);
});

test("it stops, and says so when the last step has ended", async () => {
  let ended = 0;
  const step = async () => {
    await soon();
    ended += 1;
    return true;
  };
  const taking = new Taking(step, soon);
  taking.go();
  await taking.stop();
  assert.equal(ended, 1);
  for (let turn = 0; turn < 5; turn++) await soon();
  assert.equal(ended, 1);
});

test("it goes again only when the step before and the withdrawal have ended", async () => {
  const said = [];
  const slowly = (what, more) => async () => {
    said.push(what);
    await soon();
    said.push(`${what} ended`);
    return more;
  };
  const taking = new Taking(slowly("step", false), soon);
  taking.go();
  const stopped = taking.stop(slowly("withdraw"));
  assert.ok(taking.stopping);
  const again = taking.go();
  await stopped;
  assert.ok(!taking.stopping);
  await again;
  assert.deepEqual(said, ["step", "step ended", "withdraw", "withdraw ended", "step", "step ended"]);
});

test("it can go again after a step that failed", async () => {
  const steps = [() => Promise.reject(new Error("no")), () => Promise.resolve(false)];
  const taking = new Taking(() => steps.shift()(), soon);
  await assert.rejects(taking.go());
  await taking.go();
  assert.equal(steps.length, 0);
});

test("it stops also when the step under way fails", async () => {
  const taking = new Taking(async () => Promise.reject(new Error("no")), soon);
  const way = assert.rejects(taking.go());
  await taking.stop();
  await way;
});
