import { clock } from "./elapsed.js";

/** State and words for the dot in the header. */
export function describe({ open, wait, reachable, asOf }) {
  if (open) return { state: "connected", text: "Connected" };
  if (!reachable) return { state: "offline", text: `Offline, data as of ${clock(asOf, { seconds: false })}` };
  return { state: "waiting", text: wait > 0 ? `Reconnecting in ${wait} s` : "Reconnecting" };
}
