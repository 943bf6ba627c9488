import { Fragments } from "./fragments.js";

const LOOK_AGAIN = 1000;

/** Looks again every second for as long as a job is busy. */
export function followJobs() {
  const fragments = new Fragments();
  const busy = () => document.querySelector("[data-live=jobs] [data-busy]");
  setInterval(() => {
    if (!document.hidden && busy()) fragments.refresh();
  }, LOOK_AGAIN);
  return fragments;
}
