const two = (number) => String(number).padStart(2, "0");

/** Minutes and seconds since the beginning; the template filter `clock` says the same. */
export function clock(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "";
  const seconds = Math.floor(milliseconds / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

export function span(milliseconds) {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** What the scrubber says of itself. */
export function valueText(number, count, card) {
  return [`Step ${number} of ${count}`, card?.text, clock(card?.at)].filter(Boolean).join(", ");
}

/** The line above the screen. */
export function facts(number, card) {
  if (!card) return String(number);
  const parts = [`${number} ${card.text}`];
  if (card.settled !== null) parts.push(`settled ${span(card.settled)}`);
  if (card.change !== null) parts.push(`${Number(card.change.toFixed(1))} % changed`);
  if (card.size) parts.push(card.size.join("×"));
  return parts.join(" · ");
}
