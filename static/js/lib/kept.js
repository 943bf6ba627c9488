/** What this browser remembers; a page that is a file may not be allowed to. */
export function kept(name) {
  try {
    return localStorage.getItem(`trace-${name}`);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(`trace-${name}`, value);
  } catch {
    // Then it is not remembered.
  }
}
