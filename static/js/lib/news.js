/** A title with how many wait before it: "(2) Dashboard · GodHand". */
export function counted(title, waiting) {
  const bare = title.replace(/^\(\d+\) /, "");
  return waiting > 0 ? `(${waiting}) ${bare}` : bare;
}

/** What a bell says that rings for so many. */
export function bell(waiting) {
  if (!waiting) return "Nothing waits for you";
  return waiting === 1 ? "An agent waits for you" : `${waiting} agents wait for you`;
}

/** What of the news this browser wants to be told, and has not been told yet. */
export function fresh(news, wanted, told) {
  return news.filter((each) => wanted.includes(each.kind) && !told.includes(each.key));
}
