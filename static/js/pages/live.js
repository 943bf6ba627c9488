import { Fragments } from "../parts/fragments.js";
import { Hints } from "../parts/hints.js";

const fragments = new Fragments();
const root = document.querySelector("[data-socket]");

new Hints(root.dataset.socket, fragments, document.querySelector("[data-conn]")).start();

if (root.dataset.poll) {
  setInterval(() => {
    if (!document.hidden) fragments.refresh();
  }, 1000 * Number(root.dataset.poll));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.replaceState(null, "", link.href);
  fragments.refresh();
});
