import { say } from "../toasts.js";

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = new Set(["circle", "polyline", "rect", "text"]);

export const find = (name, root = document) => root.querySelector(`[data-${name}]`);

/** An element of ours; text that others wrote goes in as text. */
export function make(tag, { className = "", text = "", ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** From the sprite that the page's other icons come from. */
export function icon(name) {
  const known = document.querySelector("svg.icon use").getAttribute("href");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", known.replace(/#.*/, `#${name}`));
  svg.append(use);
  return svg;
}

/** The layers over a picture, as the server described them. */
export function drawLayers(svg, card, number) {
  const [width, height] = card?.size ?? [1280, 800];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(...Object.entries(card?.shapes ?? {}).map(([name, shapes]) => layer(name, shapes, number)));
}

export function layer(name, shapes, number) {
  const group = document.createElementNS(SVG, "g");
  group.setAttribute("class", `layer ${name}`);
  group.append(...shapes.filter(([tag]) => SHAPES.has(tag)).map((shape) => drawn(shape, number)));
  return group;
}

function drawn([tag, attributes, text], number) {
  const shape = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  if (tag === "text") shape.textContent = attributes.class.includes("number") ? number : text;
  return shape;
}

/** The nodes of a fragment that the server made. */
export function parsed(html) {
  return [...new DOMParser().parseFromString(html, "text/html").body.childNodes].map((node) => document.adoptNode(node));
}

/** Shown where the page has a place for it, and announced in any case. */
export function tell(text, tone) {
  if (document.getElementById("toasts")) say(text, tone);
  else find("say").textContent = text;
}

/** Calls at most once per pause of so many milliseconds. */
export function calmly(act, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, milliseconds);
  };
}
