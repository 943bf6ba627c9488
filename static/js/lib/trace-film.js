export const TILE = 144;
export const GAP = 8;
const NARROWEST = 36;
const LONGEST = 2000;

/** Where each tile of the film begins: all equally wide, or each as wide as its step lasted. In pixels. */
export class Layout {
  constructor(lefts, end, cuts = new Map()) {
    this.lefts = lefts;
    this.end = end;
    this.cuts = cuts;
  }

  get length() {
    return this.lefts.length;
  }

  left(index) {
    return this.lefts[index] ?? this.end;
  }

  /** The step whose tile is there. */
  at(x) {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.lefts[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** The tiles in view, some more on both sides; `end` is the first that is not. */
  inView(left, width, margin = 4) {
    return { start: Math.max(0, this.at(left) - margin), end: Math.min(this.length, this.at(left + width) + 1 + margin) };
  }
}

export function bySteps(count) {
  return new Layout(Array.from({ length: count }, (_, index) => index * TILE), count * TILE);
}

/** Two seconds are as wide as a tile; what took longer is cut to them. `cuts` tells by step what was left out. */
export function byTime(times) {
  const lefts = [];
  const cuts = new Map();
  let left = 0;
  times.forEach((time, index) => {
    lefts.push(left);
    const lasted = Math.max(0, (times[index + 1] ?? time + LONGEST) - time) || 0;
    if (lasted > LONGEST) cuts.set(index, lasted - LONGEST);
    left += Math.max(NARROWEST, Math.round((Math.min(lasted, LONGEST) / LONGEST) * TILE));
  });
  return new Layout(lefts, lefts.length ? lefts.at(-1) + TILE : 0, cuts);
}
