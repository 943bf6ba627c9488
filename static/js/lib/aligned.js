/** Rows are { number, kin, a, b } in order; a and b are what that side did there, or null. */

/** What a side shows at a row: its step there, or the last one before, which is then past. */
export function standing(rows, number, side) {
  let last = null;
  for (const row of rows) {
    if (row.number > number) break;
    if (row[side]) last = row;
  }
  return { cell: last ? last[side] : null, past: last?.number !== number };
}

/** The nearest wanted row before (-1) or after (1) a number; the number itself when there is none. */
export function following(rows, number, way, wanted = () => true) {
  const there = rows.filter((row) => (row.number - number) * way > 0 && wanted(row));
  return (way > 0 ? there.at(0) : there.at(-1))?.number ?? number;
}

export const differs = (row) => Boolean(row.kin) && row.kin !== "same";

/** The number of the row that holds the side's n-th step, from 0. */
export function rowOf(rows, side, index) {
  const mine = rows.filter((row) => row[side]);
  return mine[Math.max(0, Math.min(index, mine.length - 1))]?.number ?? 0;
}

/** How many steps the side has done before a row: the inverse of rowOf, for a row without a step the last one. */
export function indexOf(rows, side, number) {
  return Math.max(0, rows.filter((row) => row[side] && row.number <= number).length - 1);
}

/** What a row is to somebody who cannot see it. */
export function spoken(row, last) {
  const done = (letter, cell) => (cell ? `${letter} step ${cell.number}, ${cell.sentence}` : `${letter} nothing`);
  if (!row.kin) return `Last common step, ${row.a.sentence}`;
  return `Row ${row.number} of ${last}, ${row.kin.replace("-", " ")}: ${done("A", row.a)}; ${done("B", row.b)}`;
}
