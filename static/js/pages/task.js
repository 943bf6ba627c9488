import { isAtEnd } from "../lib/following.js";
import { installNotes } from "../parts/note.js";

// The strip follows the newest step until somebody looks back.
let following = true;

const film = () => document.querySelector("[data-film]");

function follow() {
  const strip = film();
  if (strip && following) strip.scrollLeft = strip.scrollWidth;
  show();
}

function show() {
  const jump = document.querySelector("[data-jump]");
  if (jump) jump.hidden = following || !film();
}

document.addEventListener(
  "scroll",
  (event) => {
    if (event.target !== film()) return;
    following = isAtEnd(event.target);
    show();
  },
  { capture: true },
);

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-jump]")) return;
  following = true;
  follow();
});

document.addEventListener("live:refreshed", follow);
document.addEventListener("live:placed", follow);
installNotes();
follow();
