export const SPEEDS = [0.5, 1, 2, 4];
const LONGEST = 2000;
const SHORTEST = 120;

/** Milliseconds that a step stays while playing: as long as it really took, but idle gaps are cut. */
export function stay(card, following, speed) {
  const gap = (following?.at ?? NaN) - (card?.at ?? NaN);
  const real = Number.isFinite(gap) ? Math.max(0, Math.min(gap, LONGEST)) : LONGEST / 2;
  return Math.max(SHORTEST, real) / speed;
}

/** The next faster (1) or slower (-1) speed. */
export function shifted(speed, direction) {
  const place = SPEEDS.indexOf(speed) + direction;
  return SPEEDS[Math.max(0, Math.min(place, SPEEDS.length - 1))];
}

/** Which of so many tiles are in view, some more on both sides; `end` is the first that is not. */
export function inView({ left, width, tile, count, margin = 4 }) {
  const start = Math.max(0, Math.floor(left / tile) - margin);
  return { start, end: Math.min(count, Math.ceil((left + width) / tile) + margin) };
}
