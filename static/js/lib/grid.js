const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** Where an arrow leads on a grid of boxes, each {left, top}: the number of the box, or the same when there is none. */
export function arrowTarget(boxes, from, key) {
  if (key in STEPS) return Math.min(boxes.length - 1, Math.max(0, from + STEPS[key]));
  if (key === "Home") return 0;
  if (key === "End") return boxes.length - 1;
  const down = key === "ArrowDown";
  const here = boxes[from];
  const rows = boxes.filter(({ top }) => (down ? top > here.top + 1 : top < here.top - 1)).map(({ top }) => top);
  if (!rows.length) return from;
  const row = down ? Math.min(...rows) : Math.max(...rows);
  let best = from;
  let nearest = Infinity;
  boxes.forEach(({ left, top }, number) => {
    const away = Math.abs(left - here.left);
    if (Math.abs(top - row) <= 1 && away < nearest) [best, nearest] = [number, away];
  });
  return best;
}
