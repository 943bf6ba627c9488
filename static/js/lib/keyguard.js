const TYPING = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable], canvas, [data-screen]";

/** Whether a bare key may act: never while somebody types, drives a desktop, or answers a dialog. */
export function mayAct(event) {
  if (event.defaultPrevented || event.isComposing || event.repeat) return false;
  if (event.ctrlKey || event.altKey || event.metaKey) return false;
  return !event.target?.closest?.(`${TYPING}, dialog[open]`);
}

/** Modifiers alone, all three of them, and nothing else. */
export function isLeaveChord(event) {
  return event.ctrlKey && event.altKey && event.shiftKey && ["Control", "Alt", "Shift", "Meta"].includes(event.key);
}

/** Sends what one writes. A key that is held down repeats, and `event.repeat` is for the caller to look at. */
export function isSendChord(event) {
  return event.key === "Enter" && (event.ctrlKey || event.metaKey);
}
