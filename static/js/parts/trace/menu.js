import { find } from "./dom.js";

/**
 * What can be done with a row of the tree: with the right button, the menu key, or “…” for the current step.
 *
 * Entries are in `templates/traces/_menu.html`. In `data-to`, the address of a link or form, `@seq` and `@branch` stand
 * for those of the row. One with `data-needs` is there only for rows whose `data-has` names the same word.
 */
export class Menu {
  constructor(model, { copy, note }) {
    Object.assign(this, { model, copy, note });
    this.panel = find("tree-panel");
    this.menu = find("menu");
    if (!this.menu || !model.source.grows) return;
    this.panel.addEventListener("contextmenu", (event) => this.#asked(event));
    this.panel.addEventListener("click", (event) => this.#click(event));
    this.menu.addEventListener("keydown", (event) => this.#key(event));
    this.menu.addEventListener("click", (event) => this.#chosen(event));
    this.menu.addEventListener("focusout", (event) => {
      if (!this.menu.contains(event.relatedTarget)) this.close();
    });
    this.#reveal();
    new MutationObserver(() => this.#reveal()).observe(this.panel, { childList: true });
  }

  get items() {
    return [...this.menu.querySelectorAll("[role=menuitem]")].filter((item) => !item.closest("[hidden]"));
  }

  open(row, x, y) {
    const words = { seq: row.dataset.seq, branch: row.dataset.in, has: (row.dataset.has ?? "").split(" ") };
    for (const entry of this.menu.querySelectorAll("[data-to], [data-needs], [data-link-of], [data-note-of]")) fill(entry, words);
    this.row = row;
    this.menu.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.menu;
    this.menu.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`;
    this.menu.style.top = `${Math.max(8, Math.min(y, innerHeight - height - 8))}px`;
    this.items[0]?.focus();
  }

  close() {
    this.menu.hidden = true;
  }

  #reveal() {
    for (const button of this.panel.querySelectorAll("[data-menu-button]")) button.hidden = false;
  }

  #asked(event) {
    const row = event.target.closest("[role=treeitem][data-seq]");
    if (!row) return;
    event.preventDefault();
    const box = row.getBoundingClientRect();
    this.open(row, event.clientX || box.left + 40, event.clientY || box.bottom);
  }

  #click(event) {
    const button = event.target.closest("[data-menu-button]");
    if (!button) return;
    const row = this.panel.querySelector(`[role=treeitem][data-seq="${this.model.seq}"]`) ?? this.#current();
    const box = button.getBoundingClientRect();
    this.open(row, box.left, box.bottom + 4);
    this.row = button;
  }

  /** The current step may be within a run that is closed. */
  #current() {
    const { seq, card, path } = this.model;
    return { dataset: { seq: String(seq), in: card?.branch ?? path.branch } };
  }

  #key(event) {
    const { items } = this;
    const place = items.indexOf(document.activeElement);
    const acts = {
      ArrowDown: () => items[(place + 1) % items.length].focus(),
      ArrowUp: () => items.at(place - 1).focus(),
      Home: () => items[0].focus(),
      End: () => items.at(-1).focus(),
      Escape: () => this.#leave(),
      Tab: () => this.#leave(),
    };
    event.stopPropagation();
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  #leave() {
    const { row } = this;
    this.close();
    row?.focus?.();
  }

  #chosen(event) {
    const entry = event.target.closest("[data-link-of], [data-note-of]");
    if (!entry) return;
    this.#leave();
    if (entry.matches("[data-link-of]")) this.copy(entry.dataset.of);
    else this.note(Number(entry.dataset.of), entry.dataset.branch);
  }
}

function fill(entry, { seq, branch, has }) {
  const { to, needs, linkOf, noteOf } = entry.dataset;
  if (needs) entry.hidden = !has.includes(needs);
  if (linkOf || noteOf) Object.assign(entry.dataset, { of: seq, branch });
  if (!to) return;
  const address = to.replace("@seq", encodeURIComponent(seq)).replace("@branch", encodeURIComponent(branch));
  entry.setAttribute(entry.matches("form") ? "action" : "href", address);
}
