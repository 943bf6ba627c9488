/** A line about who drives, and its buttons. They stay while only the time in it changes: one of them may be focused. */
export function paintLine(place, line) {
  place.hidden = !line;
  place.querySelector("[data-line]").textContent = line?.text ?? "";
  announce(place.querySelector("[role=status]"), line?.text ?? "");
  const acts = place.querySelector("[data-acts]");
  const shown = JSON.stringify(line?.acts ?? []);
  if (acts.dataset.shown === shown) return;
  acts.dataset.shown = shown;
  acts.replaceChildren(...(line?.acts ?? []).map(button));
}

/** Once, not every second. */
function announce(place, text) {
  const kind = text.replace(/\d+:\d+/, "");
  if (place.dataset.kind === kind) return;
  place.dataset.kind = kind;
  place.textContent = text;
}

function button({ text, verb, main }) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = main ? "btn primary" : "btn";
  made.dataset.control = verb;
  made.textContent = text;
  return made;
}
