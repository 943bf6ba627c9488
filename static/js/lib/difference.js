/** What stayed is faint and grey, what changed keeps its colours on an amber ground: tells how many pixels did. */
export function drawDifference(canvas, before, after) {
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const { width, height } = canvas;
  context.drawImage(before, 0, 0, width, height);
  const old = context.getImageData(0, 0, width, height).data;
  context.drawImage(after, 0, 0, width, height);
  const picture = context.getImageData(0, 0, width, height);
  const now = picture.data;
  let count = 0;
  for (let at = 0; at < now.length; at += 4) {
    const changed =
      Math.abs(now[at] - old[at]) + Math.abs(now[at + 1] - old[at + 1]) + Math.abs(now[at + 2] - old[at + 2]) > 24;
    if (changed) {
      count += 1;
      now[at] = now[at] * 0.55 + 255 * 0.45;
      now[at + 1] = now[at + 1] * 0.55 + 170 * 0.45;
      now[at + 2] = now[at + 2] * 0.55 + 40 * 0.45;
    } else {
      const grey = (now[at] * 0.3 + now[at + 1] * 0.59 + now[at + 2] * 0.11) * 0.35 + 20;
      now[at] = now[at + 1] = now[at + 2] = grey;
    }
  }
  context.putImageData(picture, 0, 0);
  return count;
}

/** How much of a picture that is, in words. */
export function differing(count, pixels) {
  if (!count) return "Nothing differs";
  const percent = Math.round((100 * count) / pixels);
  return percent ? `${percent} % of the screen differs` : "Less than 1 % of the screen differs";
}
