import assert from "node:assert/strict";
import test from "node:test";

import { backLine, bar, chip, news, offer, timeLeft } from "../../static/js/lib/control.js";

const facts = (more) => ({
  mode: "nobody",
  name: "",
  stage: "",
  asker: "",
  asking: false,
  agent: false,
  may_drive: true,
  ...more,
});
const now = { left: 200, waited: 0 };
const verbs = (line) => line.acts.map((act) => act.verb);

test("it says who drives", () => {
  assert.equal(chip(facts({ mode: "you" })).text, "You are driving");
  assert.equal(chip(facts({ mode: "you", recorded: true })).text, "You are driving, recorded");
  assert.equal(chip(facts({ mode: "other", name: "ann" })).text, "ann is driving");
  assert.equal(chip(facts({ mode: "agent" })).text, "Agent is driving");
  assert.equal(chip(facts()).text, "You are watching");
});

test("it offers the one thing that makes sense", () => {
  assert.equal(offer(facts({ may_drive: false })), null);
  assert.equal(offer(facts()).text, "Take control");
  assert.equal(offer(facts({ mode: "agent", agent: true })).text, "Take over");
  assert.equal(offer(facts({ mode: "other" })).verb, "ask");
  assert.equal(offer(facts({ mode: "you" })).verb, "back");
  assert.equal(offer(facts({ mode: "you", agent: true })).verb, "handback");
  assert.equal(offer(facts({ mode: "agent", agent: true, stage: "saving" })).verb, "");
});

test("it lets one interrupt an action after a second of waiting", () => {
  const finishing = facts({ stage: "finishing" });
  assert.deepEqual(verbs(bar(finishing, { ...now, waited: 500 })), ["withdraw"]);
  assert.deepEqual(verbs(bar(finishing, { ...now, waited: 1000 })), ["interrupt", "withdraw"]);
});

test("it lets one try again when a step of the take-over failed", () => {
  const failed = { ...now, waited: null };
  assert.deepEqual(verbs(bar(facts({ stage: "finishing" }), failed)), ["take", "withdraw"]);
  assert.deepEqual(verbs(bar(facts({ stage: "saving" }), failed)), ["take"]);
  assert.equal(bar(facts(), failed), null);
});

test("it offers nothing while a take-over is being cancelled", () => {
  const cancelling = { ...now, waited: null, stopping: true };
  for (const stage of ["finishing", "saving"]) assert.deepEqual(verbs(bar(facts({ stage }), cancelling)), []);
});

test("it warns a minute before the end and offers more time", () => {
  const mine = facts({ mode: "you" });
  assert.equal(bar(mine, { ...now, left: 61 }), null);
  const warning = bar(mine, { ...now, left: 42 });
  assert.equal(warning.text, "Your control ends in 0:42");
  assert.deepEqual(verbs(warning), ["extend"]);
  assert.equal(timeLeft(252), "4:12");
  assert.equal(timeLeft(-3), "0:00");
});

test("it says in the hand-back dialog how long is left, and how to get control back", () => {
  const line = (more, left = 252) => backLine(facts({ agent: true, ...more }), { ...now, left });
  assert.equal(line({ mode: "you" }).text, "4:12 left");
  assert.deepEqual(verbs(line({ mode: "you" })), ["extend"]);
  assert.equal(line({ mode: "you" }, 42).text, "Your control ends in 0:42");
  assert.equal(line({}).text, "To hand back, take over again. What you wrote stays here.");
  assert.deepEqual(verbs(line({})), ["take"]);
  assert.equal(line({ mode: "other", name: "bob" }).text, "To hand back, ask bob for control. What you wrote stays here.");
  assert.deepEqual(verbs(line({ mode: "other", name: "bob" })), ["ask"]);
  assert.deepEqual(verbs(line({ stage: "saving" })), []);
  assert.deepEqual(verbs(line({ may_drive: false })), []);
});

test("it asks whoever drives when somebody wants to", () => {
  const asked = bar(facts({ mode: "you", asker: "bob" }), now);
  assert.equal(asked.text, "bob asks for control");
  assert.deepEqual(verbs(asked), ["accept", "decline"]);
});

test("it tells everybody when control changes hands, and the loser loudly", () => {
  const [you, bob, agent] = [facts({ mode: "you" }), facts({ mode: "other", name: "bob" }), facts({ mode: "agent" })];
  assert.equal(news(you, you), null);
  assert.match(news(agent, you, { own: true }).text, /Ctrl\+Alt\+Shift/);
  assert.equal(news(you, bob).tone, "warning");
  assert.equal(news(you, bob, { own: true }).tone, "info");
  assert.equal(news(agent, bob).text, "bob is driving now.");
  assert.equal(news(you, facts({ agent: true }), { own: true }), null);
  assert.equal(news(you, facts({ agent: true })).tone, "warning");
  assert.equal(news({ ...bob, asking: true }, bob).text, "bob keeps control for now.");
});

test("it names the button, not keys, to whoever drives by touch", () => {
  const told = (agent) => news(facts({ agent, mode: "agent" }), facts({ agent, mode: "you" }), { own: true, touch: true });
  assert.equal(told(true).text, "You are driving. The button “Hand back” gives control back.");
  assert.equal(told(false).text, "You are driving. The button “Leave control” gives control back.");
});
