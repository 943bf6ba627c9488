import { Fragments } from "../parts/fragments.js";
import { added, parsed } from "../lib/rectangles.js";

const SVG = "http://www.w3.org/2000/svg";
const LOOK_AGAIN = 1500;

function showScope(form) {
  const chosen = form.querySelector("[name=what]:checked")?.value;
  for (const part of form.querySelectorAll("[data-for]")) {
    const wanted = part.dataset.for.split(" ").includes(chosen);
    part.hidden = !wanted;
    if (part.matches("fieldset")) part.disabled = !wanted;
  }
}

function rect({ x, y, width, height }, look = "") {
  const shape = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ x, y, width, height })) shape.setAttribute(name, value);
  if (look) shape.setAttribute("class", look);
  return shape;
}

/** Drags on the picture become lines of the field, which is what is sent. */
class Mask {
  constructor(stage, field) {
    this.stage = stage;
    this.field = field;
    this.svg = stage.querySelector("svg");
    this.size = { width: Number(stage.dataset.width), height: Number(stage.dataset.height) };
    field.addEventListener("input", () => this.draw());
    stage.addEventListener("pointerdown", (event) => this.begin(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerup", (event) => this.end(event));
    stage.addEventListener("pointercancel", () => this.forget());
    this.draw();
  }

  place(event) {
    const box = this.stage.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.size.width;
    const y = ((event.clientY - box.top) / box.height) * this.size.height;
    return { x, y };
  }

  begin(event) {
    if (event.button) return;
    event.preventDefault();
    this.stage.setPointerCapture(event.pointerId);
    this.from = this.place(event);
  }

  move(event) {
    if (!this.from) return;
    this.to = this.place(event);
    this.draw();
  }

  end(event) {
    if (!this.from) return;
    this.field.value = added(this.field.value, this.from, this.place(event), this.size);
    this.forget();
  }

  forget() {
    this.from = this.to = null;
    this.draw();
  }

  draw() {
    const shapes = parsed(this.field.value).map((box) => rect(box));
    if (this.from && this.to) {
      const [drawn] = parsed(added("", this.from, this.to, this.size));
      if (drawn) shapes.push(rect(drawn, "drawing"));
    }
    this.svg.replaceChildren(...shapes);
  }
}

const form = document.querySelector(".share-form");
if (form) {
  form.addEventListener("change", () => showScope(form));
  showScope(form);
  const stage = form.querySelector("[data-mask]");
  if (stage) {
    new Mask(stage, document.getElementById("field-parts"));
    form.querySelector("[data-drawing]").hidden = false;
  }
}

const copy = document.querySelector("[data-copy]");
if (copy) {
  const link = document.querySelector("[data-link]");
  copy.hidden = false;
  link.select();
  copy.addEventListener("click", async () => {
    link.select();
    try {
      await navigator.clipboard.writeText(link.value);
    } catch {
      document.execCommand("copy");
    }
    copy.lastChild.textContent = "Copied";
  });
}

const until = document.getElementById("field-until");
until?.addEventListener("input", () => {
  document.querySelector("[name=lifetime][value=date]").checked = true;
});

if (document.querySelector("[data-busy]")) {
  const fragments = new Fragments();
  const timer = setInterval(async () => {
    await fragments.refresh();
    if (!document.querySelector("[data-busy]")) clearInterval(timer);
  }, LOOK_AGAIN);
}
