import assert from "node:assert/strict";
import test from "node:test";
import { bell, counted, fresh } from "../../static/js/lib/news.js";

test("it counts in the title, and takes the count out again", () => {
  assert.equal(counted("Tasks · GodHand", 2), "(2) Tasks · GodHand");
  assert.equal(counted("(2) Tasks · GodHand", 11), "(11) Tasks · GodHand");
  assert.equal(counted("(11) Tasks · GodHand", 0), "Tasks · GodHand");
});

test("it tells what is wanted, and only once", () => {
  const news = [
    { kind: "help", key: "a" },
    { kind: "end", key: "b" },
    { kind: "help", key: "c" },
  ];
  assert.deepEqual(fresh(news, ["help"], ["a"]), [news[2]]);
  assert.deepEqual(fresh(news, [], []), []);
});

test("it says on the bell how many wait", () => {
  assert.deepEqual([0, 1, 3].map(bell), ["Nothing waits for you", "An agent waits for you", "3 agents wait for you"]);
});
