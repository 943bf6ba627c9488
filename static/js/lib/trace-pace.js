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
