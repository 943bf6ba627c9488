const PATIENCE = 1200;

/** Turns key presses into names such as "n" and "g d". Only the given first keys start a pair. */
export class Sequence {
  constructor(starters) {
    this.starters = new Set(starters);
    this.pending = null;
    this.at = 0;
  }

  press(key, now) {
    const first = now - this.at <= PATIENCE ? this.pending : null;
    this.pending = null;
    if (first) return `${first} ${key}`;
    if (!this.starters.has(key)) return key;
    this.pending = key;
    this.at = now;
    return null;
  }
}
