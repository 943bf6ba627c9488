/** A ticket that is not valid, control taken from under pressed keys, a display that a snapshot has cut off. */
const AT_ONCE = [4401, 4001, 4409];

/** What to do when the gate closes a desktop connection: renew, retry, stop. */
export function afterClose(code, alreadyRenewed) {
  if (AT_ONCE.includes(code) && !alreadyRenewed) return { next: "renew", text: "" };
  if (code === 4404) return { next: "stop", text: "The machine is not there any more." };
  if (code === 4400) {
    return { next: "stop", text: "The gate did not understand this browser. Reload the page to try again." };
  }
  return { next: "retry", text: "" };
}

/** The same for a ticket that was refused, by HTTP status; 0 when nothing answered. */
export function afterRefusal(status) {
  if (status === 403) return { next: "watch", text: "You may watch this machine, not drive it." };
  if (status === 404) return { next: "stop", text: "The machine is not there any more." };
  if (status === 400) return { next: "stop", text: "The request was refused. Reload the page to try again." };
  return { next: "retry", text: "" };
}
