const SOON = 2000;

/** Keeps tiles fresh while somebody looks: asks which pictures are new, loads those, and says what is being done.

`rest` is how long it waits once every tile has a picture. */
export class Pictures {
  constructor(told, rest = SOON) {
    this.told = told;
    this.rest = rest;
    this.missing = true;
    this.paused = false;
    this.asOf = new Date();
  }

  start() {
    this.#later();
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#look();
    });
  }

  pause(paused) {
    this.paused = paused;
    if (!paused) this.#look();
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#look(), this.missing ? SOON : this.rest);
  }

  async #look() {
    clearTimeout(this.timer);
    if (!this.paused && !document.hidden) await this.#ask();
    this.#later();
  }

  async #ask() {
    const tiles = [...document.querySelectorAll("[data-tile][data-state=ready]")];
    if (!tiles.length) return;
    const address = new URL(document.querySelector("[data-pictures]").dataset.pictures, location.href);
    address.searchParams.set("machines", tiles.map((tile) => tile.dataset.tile).join(","));
    try {
      const response = await fetch(address, { cache: "no-store" });
      if (!response.ok || response.redirected) throw new Error(`answered with ${response.status}`);
      const { pictures, doing } = await response.json();
      if (this.paused) return;
      this.missing = tiles.some((tile) => !pictures[tile.dataset.tile]);
      for (const tile of tiles) {
        const id = tile.dataset.tile;
        if (pictures[id]) show(tile, pictures[id]);
        if (doing[id]) tell(tile, doing[id]);
      }
      this.asOf = new Date();
      this.told(true, this.asOf);
    } catch {
      this.told(false, this.asOf);
    }
  }
}

function tell(tile, html) {
  const place = tile.querySelector("[data-doing]");
  const fresh = new DOMParser().parseFromString(html, "text/html").body;
  place?.replaceChildren(...document.adoptNode(fresh).childNodes);
}

/** The new picture takes the old one's place when it is there, so that a tile is never empty. */
function show(tile, name) {
  const stage = tile.querySelector("[data-stage]");
  if (stage.dataset.coming === name || stage.querySelector("img")?.dataset.name === name) return;
  stage.dataset.coming = name;
  const image = new Image();
  image.alt = "";
  image.dataset.thumb = "";
  image.dataset.name = name;
  image.addEventListener("load", () => {
    if (stage.dataset.coming !== name) return;
    stage.querySelectorAll(":scope > img, :scope > svg").forEach((old) => old.remove());
    stage.prepend(image);
  });
  image.addEventListener("error", () => delete stage.dataset.coming);
  image.src = `/machines/${encodeURIComponent(tile.dataset.tile)}/thumb.webp?v=${encodeURIComponent(name)}`;
}
