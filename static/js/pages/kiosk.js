import { installElapsed } from "../parts/elapsed.js";
import { Pictures } from "../parts/pictures.js";

const main = document.querySelector("[data-kiosk]");
const said = document.querySelector("[data-stale]");
const pauses = document.querySelector("[data-pause]");
const full = document.querySelector("[data-fullscreen]");
let paused = false;
const fresh = { pages: true, pictures: true };

function tell(part, isFresh) {
  fresh[part] = isFresh;
  const all = fresh.pages && fresh.pictures;
  document.body.classList.toggle("stale", !all);
  said.hidden = all;
  said.textContent = all ? "" : `As of ${pictures.asOf.toLocaleTimeString()}. Waiting for the server.`;
}

/** The next page of tiles, or the first after the last. What is shown stays until the new one is there. */
async function turn() {
  const { page, pages } = document.querySelector("[data-page]").dataset;
  const address = new URL(location.href);
  address.searchParams.set("page", Number(page) >= Number(pages) ? 1 : Number(page) + 1);
  try {
    const response = await fetch(address, { cache: "no-store" });
    if (response.redirected) {
      said.hidden = false;
      said.textContent = "The login has ended: log in again.";
      return;
    }
    if (!response.ok) throw new Error(`answered with ${response.status}`);
    const next = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-kiosk]");
    main.replaceChildren(...next.childNodes);
    tell("pages", true);
  } catch {
    tell("pages", false);
  }
}

const pictures = new Pictures((isFresh) => tell("pictures", isFresh));
pictures.start();
installElapsed();
setInterval(() => {
  if (!paused) turn();
}, 1000 * Number(main.dataset.seconds));

pauses.hidden = false;
pauses.addEventListener("click", () => {
  paused = !paused;
  pauses.setAttribute("aria-pressed", String(paused));
  pauses.querySelector(".label").textContent = paused ? "Go on" : "Pause";
  pictures.pause(paused);
});

full.hidden = !document.fullscreenEnabled;
full.addEventListener("click", toggleFull);
document.addEventListener("keydown", (event) => {
  if (event.key === "f" && !event.ctrlKey && !event.metaKey && !event.altKey) toggleFull();
});

function toggleFull() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen();
}
