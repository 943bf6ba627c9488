const ERRORS = "xur";

/** The steps from the root to the end of a branch: their seqs in order, and a letter for how each ended. */
export class Path {
  constructor({ branch, seqs, codes, people, forks }) {
    let last = 0;
    this.branch = branch;
    this.seqs = seqs.map((difference) => (last += difference));
    this.codes = [...codes];
    this.people = new Set(people);
    this.forks = new Set(forks);
  }

  get length() {
    return this.seqs.length;
  }

  /** Seqs grow along a path. -1 for a step that is not on it. */
  indexOf(seq) {
    const place = this.#after(seq) - 1;
    return this.seqs[place] === seq ? place : -1;
  }

  /** The last place whose seq is not larger. */
  nearest(seq) {
    return Math.max(0, this.#after(seq) - 1);
  }

  isError(index) {
    return ERRORS.includes(this.codes[index]);
  }

  isMarked(index) {
    return this.isError(index) || this.people.has(index) || this.forks.has(index);
  }

  /** The next place in a direction that is right, or -1. */
  next(index, direction, right) {
    for (let place = index + direction; place >= 0 && place < this.length; place += direction) {
      if (right(place)) return place;
    }
    return -1;
  }

  /** A step that was added or moved on; true when the path is longer now. */
  learn({ seq, branch, code, by }) {
    const known = this.indexOf(seq);
    if (known >= 0) {
      this.codes[known] = code;
      return false;
    }
    if (branch !== this.branch || seq < this.seqs.at(-1)) return false;
    if (by === "human") this.people.add(this.length);
    this.seqs.push(seq);
    this.codes.push(code);
    return true;
  }

  #after(seq) {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.seqs[middle] <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
