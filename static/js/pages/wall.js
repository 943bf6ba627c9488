import { arrowTarget } from "../lib/grid.js";
import { mayAct } from "../lib/keyguard.js";
import { LiveTiles } from "../parts/livetiles.js";
import { Pictures } from "../parts/pictures.js";
import { Selection } from "../parts/selection.js";

const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
const selection = new Selection();
const live = new LiveTiles();
const pictures = new Pictures((fresh, asOf) => {
  const line = document.querySelector("[data-stale]");
  document.body.classList.toggle("stale", !fresh);
  line.hidden = fresh;
  line.textContent = fresh ? "" : `Showing the pictures from ${asOf.toLocaleTimeString()}; new ones do not arrive.`;
});
pictures.start();

const button = document.querySelector("[data-pause]");
button.hidden = false;
button.addEventListener("click", () => {
  const paused = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(paused));
  button.querySelector(".label").textContent = paused ? "Go on" : "Pause previews";
  pictures.pause(paused);
  live.pause(paused);
});

function links() {
  return [...document.querySelectorAll(".tile-title a")];
}

document.addEventListener("keydown", (event) => {
  if (document.body.dataset.keys === "off" || !mayAct(event)) return;
  const all = links();
  const at = all.indexOf(document.activeElement);
  if (ARROWS.includes(event.key) && all.length && (at >= 0 || document.activeElement === document.body)) {
    const boxes = all.map((link) => link.closest("[data-tile]").getBoundingClientRect());
    all[at < 0 ? 0 : arrowTarget(boxes, at, event.key)].focus();
  } else if (at >= 0 && event.key === " ") selection.toggle(all[at].closest("[data-tile]").dataset.tile);
  else if (at >= 0 && event.key === "p") live.togglePin(all[at].closest("[data-tile]").dataset.tile);
  else return;
  event.preventDefault();
});
