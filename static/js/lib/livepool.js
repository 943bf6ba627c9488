/**
 * Which tiles are live: few at once. Those that somebody pinned stay; of the others the one that was looked at the
 * longest ago gives way.
 */
export class LivePool {
  constructor(most = 4) {
    this.most = most;
    this.live = new Map();
  }

  /** Begin with this one, if there is room or room can be made. The ids that have to end for it. */
  begin(id, { pinned = false } = {}) {
    const was = this.live.get(id);
    this.live.delete(id);
    const ending = [];
    while (this.live.size >= this.most) {
      const loose = [...this.live].find(([, other]) => !other.pinned) ?? (pinned && [...this.live][0]);
      if (!loose) return { begun: false, ending };
      this.live.delete(loose[0]);
      ending.push(loose[0]);
    }
    this.live.set(id, { pinned: pinned || Boolean(was?.pinned) });
    return { begun: !was, ending };
  }

  /** It is not looked at any more; a pinned one stays. Whether it ended. */
  leave(id) {
    const entry = this.live.get(id);
    if (!entry || entry.pinned) return false;
    return this.live.delete(id);
  }

  end(id) {
    return this.live.delete(id);
  }

  unpin(id) {
    if (this.live.has(id)) this.live.set(id, { pinned: false });
  }

  isPinned(id) {
    return Boolean(this.live.get(id)?.pinned);
  }
}
