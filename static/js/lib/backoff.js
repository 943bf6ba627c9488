const SECONDS = [1, 1, 1, 1, 1, 2, 5, 10];

/** Seconds to wait before try number `attempt`, the first being 0. What was only restarted is back within five. */
export function delay(attempt) {
  return SECONDS[Math.min(Math.max(attempt, 0), SECONDS.length - 1)];
}
