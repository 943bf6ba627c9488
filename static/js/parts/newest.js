const MOST = 60;

const parsed = (html) => document.adoptNode(new DOMParser().parseFromString(html, "text/html").body.firstElementChild);

/** The place of a step in a list that is in order; null at its end. */
function follower(list, seq, newestFirst) {
  const comesAfter = ({ dataset }) => (newestFirst ? Number(dataset.step) < seq : Number(dataset.step) > seq);
  return [...list.querySelectorAll("[data-step]")].find(comesAfter) ?? null;
}

function exchange(old, fresh) {
  if (old.outerHTML === fresh.outerHTML) return;
  const focused = old.contains(document.activeElement);
  old.replaceWith(fresh);
  if (focused) fresh.querySelector("a")?.focus({ preventScroll: true });
}

function put(list, fresh, newestFirst) {
  const { step } = fresh.dataset;
  const old = list.querySelector(`[data-step="${step}"]`);
  if (old) exchange(old, fresh);
  else list.insertBefore(fresh, follower(list, Number(step), newestFirst));
  list.querySelector(".nothing")?.remove();
}

function shorten(list, newestFirst) {
  const steps = [...list.querySelectorAll("[data-step]")];
  const old = newestFirst ? steps.slice(MOST) : steps.slice(0, Math.max(0, steps.length - MOST));
  for (const one of old) one.remove();
}

const holds = (list, { dataset }) => list?.querySelector(`[data-step="${dataset.step}"]`);

/** Each step once, where it belongs, whether it is new or has moved on. */
function merge(list, fresh, newestFirst) {
  for (const one of fresh) put(list, one, newestFirst);
  shorten(list, newestFirst);
}

/** Puts the newest steps into the page's lists. False when the page has to be asked for instead. */
export function placeSteps({ steps, more }) {
  const acts = document.getElementById("acts");
  const film = document.getElementById("film");
  const fresh = steps.map(({ act }) => parsed(act));
  const frames = steps.flatMap(({ frame }) => (frame ? [parsed(frame)] : []));
  const missesSome = more && !fresh.some((one) => holds(acts ?? film, one));
  if (missesSome || (frames.length && !film)) return false;
  if (film) merge(film, frames, false);
  if (acts) merge(acts, fresh, true);
  return !document.getElementById("thoughts");
}
