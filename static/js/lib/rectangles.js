const LINE = /^\s*(\d{1,6})[\s,]+(\d{1,6})[\s,]+(\d{1,6})[\s,]+(\d{1,6})\s*$/;
const SMALLEST = 4;

/** The lines of a field that are rectangles: x, y, width and height. */
export function parsed(text) {
  return text
    .split("\n")
    .map((line) => LINE.exec(line))
    .filter(Boolean)
    .map(([, x, y, width, height]) => ({ x: Number(x), y: Number(y), width: Number(width), height: Number(height) }));
}

function within(value, most) {
  return Math.round(Math.min(Math.max(value, 0), most));
}

/** The field with one more rectangle between two points, inside a picture of that size; as it was when it is tiny. */
export function added(text, from, to, size) {
  const left = within(Math.min(from.x, to.x), size.width);
  const top = within(Math.min(from.y, to.y), size.height);
  const width = within(Math.max(from.x, to.x), size.width) - left;
  const height = within(Math.max(from.y, to.y), size.height) - top;
  if (width < SMALLEST || height < SMALLEST) return text;
  const before = text.trimEnd();
  return `${before ? `${before}\n` : ""}${left} ${top} ${width} ${height}`;
}
