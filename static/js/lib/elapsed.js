/** The two largest units that matter; the template filter `elapsed` says the same. */
export function spoken(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  if (minutes) return `${minutes} min ${seconds % 60} s`;
  return `${seconds} s`;
}

const two = (number) => String(number).padStart(2, "0");

export function clock(date, { seconds = true } = {}) {
  const short = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return seconds ? `${short}:${two(date.getSeconds())}` : short;
}
