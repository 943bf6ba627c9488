const NEAR = 48;

/** Whether a list is looked at where it grows: at its end, give or take a little. */
export function isAtEnd({ scrollLeft, scrollWidth, clientWidth }) {
  return scrollLeft + clientWidth >= scrollWidth - NEAR;
}
