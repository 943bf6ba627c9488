const TYPING = "input:not([type=range]):not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";
const PRESSED = "a[href], button, summary, input, select, textarea, [role=treeitem]";
const MOVES = ["ArrowLeft", "ArrowRight", "Home", "End"];

const COMMANDS = {
  ArrowLeft: "previous",
  k: "previous",
  ArrowRight: "next",
  j: "next",
  h: "previousBranch",
  l: "nextBranch",
  "Shift+ArrowLeft": "previousMarked",
  "Shift+ArrowRight": "nextMarked",
  "g g": "first",
  Home: "first",
  G: "last",
  End: "last",
  " ": "play",
  "<": "slower",
  ">": "faster",
  ".": "nextError",
  ",": "previousError",
  1: "tab1",
  2: "tab2",
  3: "tab3",
  4: "tab4",
  5: "tab5",
  6: "tab6",
  b: "before",
  a: "after",
  d: "diff",
  m: "marks",
  f: "full",
  x: "compare",
  v: "divergence",
  c: "copy",
  n: "nextHit",
  N: "previousHit",
  L: "live",
  "/": "search",
  Escape: "escape",
};
const REPEATS = new Set(["previous", "next", "previousMarked", "nextMarked", "nextError", "previousError", "nextHit"]);

/** The name of the command that a key means, or undefined. `sequence` turns presses into names such as "g g". */
export function commandOf(event, sequence) {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return undefined;
  const target = event.target;
  if (target?.closest?.(`${TYPING}, dialog[open], [role=menu]`)) return undefined;
  if (MOVES.includes(event.key) && target?.closest?.("input[type=range], [role=tree]")) return undefined;
  if (event.key === " " && target?.closest?.(PRESSED) && !target.matches("input[type=range]")) return undefined;
  const pressed = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
  const name = sequence.press(pressed, event.timeStamp);
  const command = name === null ? undefined : COMMANDS[name];
  return event.repeat && !REPEATS.has(command) ? undefined : command;
}
