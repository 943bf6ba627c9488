/** X11 key symbols of what a person can send from the menu. */
export const KEYS = {
  Control: [0xffe3, "ControlLeft"],
  Alt: [0xffe9, "AltLeft"],
  Super: [0xffeb, "MetaLeft"],
  Delete: [0xffff, "Delete"],
  Tab: [0xff09, "Tab"],
  Escape: [0xff1b, "Escape"],
  F4: [0xffc1, "F4"],
};

const CONTROL = { 0x08: 0xff08, 0x09: 0xff09, 0x0a: 0xff0d, 0x0d: 0xff0d };

/** The symbols that type a text. Characters no keyboard has are sent as Unicode symbols; other controls are left out. */
export function keysymsOf(text) {
  const symbols = [];
  for (const character of text.replaceAll("\r\n", "\n")) {
    const point = character.codePointAt(0);
    if (CONTROL[point]) symbols.push(CONTROL[point]);
    else if (point < 0x20 || (point >= 0x7f && point < 0xa0)) continue;
    else symbols.push(point <= 0xff ? point : 0x01000000 | point);
  }
  return symbols;
}

/** Presses in order, releases in reverse, as [symbol, code, down]. */
export function combination(names) {
  const keys = names.map((name) => KEYS[name]);
  return [...keys.map((key) => [...key, true]), ...keys.reverse().map((key) => [...key, false])];
}
