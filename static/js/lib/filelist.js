/** A name that none of the others has: "a.csv" becomes "a (2).csv". */
export function unique(name, taken) {
  if (!taken.has(name)) return name;
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  for (let number = 2; ; number += 1) {
    const other = `${stem} (${number})${ending}`;
    if (!taken.has(other)) return other;
  }
}

/** Bytes as `filesizeformat` of the templates says them. */
export function sizeOf(bytes) {
  if (bytes < 1024) return `${bytes} byte${bytes === 1 ? "" : "s"}`;
  const units = ["KB", "MB", "GB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** What follows what: the text with a block added, one empty line between. */
export function withBlock(text, block) {
  const before = text.trimEnd();
  return `${before}${before ? "\n\n" : ""}${block.trim()}\n`;
}
