import { LOGIN_ENDED } from "../../lib/post.js";
import { calmly, find, parsed, tell } from "./dom.js";

/** The rows beside the lanes: arrow keys walk them, runs open in place, and the current step is kept in sight. */
export class Tree {
  constructor(model) {
    this.model = model;
    this.panel = find("tree-panel");
    this.all = find("all", this.panel)?.dataset.all === "all";
    this.opened = new Set();
    this.lost = calmly(() => this.reload(), 250);
    model.addEventListener("step", () => this.select());
    model.addEventListener("path", () => this.#pick());
    model.addEventListener("window", () => this.#narrow());
    this.panel.addEventListener("click", (event) => this.#click(event));
    this.panel.addEventListener("keydown", (event) => this.#key(event));
    this.panel.addEventListener("change", (event) => {
      if (event.target.matches("[data-branch]")) this.model.follow(event.target.value);
    });
    this.select();
  }

  get rows() {
    return [...this.panel.querySelectorAll("[role=treeitem]")];
  }

  select() {
    const { seq } = this.model;
    this.panel.dataset.lookedAt = seq;
    const row = this.panel.querySelector(`[role=treeitem][data-seq="${seq}"]`) ?? this.#runOf(seq);
    for (const old of this.panel.querySelectorAll("[aria-selected=true]")) old.setAttribute("aria-selected", "false");
    if (!row) return this.lost();
    row.setAttribute("aria-selected", "true");
    this.#rove(row);
    this.#reveal(row);
    return undefined;
  }

  /** The tree again, as it is now. */
  async reload(more = {}) {
    const html = await this.#ask(more);
    if (!html) return;
    const top = find("tree", this.panel).scrollTop;
    const focused = this.panel.contains(document.activeElement);
    this.panel.replaceChildren(...parsed(html));
    find("tree", this.panel).scrollTop = top;
    if (this.panel.querySelector(`[role=treeitem][data-seq="${this.model.seq}"]`)) this.select();
    if (focused) this.panel.querySelector("[role=treeitem][tabindex='0']")?.focus({ preventScroll: true });
    this.#readBranches();
    this.#narrow();
    for (const row of this.panel.querySelectorAll("[data-open]")) {
      if (this.opened.has(firstOf(row))) await this.#expand(row);
    }
  }

  async #ask(more) {
    try {
      return await this.model.source.tree(this.#query(more));
    } catch (error) {
      tell(error.isLoggedOut ? LOGIN_ENDED : "The tree is not complete: the server does not answer as it should.", "error");
      return "";
    }
  }

  #query(more) {
    const { seq, path, tab, view } = this.model;
    return { step: seq, branch: path.branch, tab, view, ...(this.all ? { all: 1 } : {}), ...more };
  }

  #readBranches() {
    const options = [...this.panel.querySelectorAll("[data-branch] option")];
    if (options.length) this.model.branches = options.map(({ value }) => ({ name: value }));
  }

  #pick() {
    const choice = find("branch", this.panel);
    if (choice) choice.value = this.model.path.branch;
    for (const row of this.panel.querySelectorAll("[data-in]")) {
      const seq = row.dataset.seq ?? firstOf(row);
      row.classList.toggle("aside", this.model.path.indexOf(Number(seq)) < 0);
    }
    this.#narrow();
  }

  /** Only what is within the window. */
  #narrow() {
    const { path, window: part, first, last } = this.model;
    const [low, high] = part ? [path.seqs[first], path.seqs[last]] : [0, Infinity];
    for (const row of this.panel.querySelectorAll("[data-in]")) {
      const [from, to] = (row.dataset.open ?? `${row.dataset.seq}-${row.dataset.seq}`).split("-").map(Number);
      row.classList.toggle("out", to < low || from > high);
    }
  }

  #runOf(seq) {
    const branch = this.model.card?.branch ?? this.model.path.branch;
    return [...this.panel.querySelectorAll("[data-open]")].find((row) => {
      const [first, last] = row.dataset.open.split("-").map(Number);
      return !row.hidden && row.dataset.in === branch && first <= seq && seq <= last;
    });
  }

  #rove(row) {
    for (const old of this.panel.querySelectorAll("[role=treeitem][tabindex='0']")) old.tabIndex = -1;
    row.tabIndex = 0;
  }

  #reveal(row) {
    const box = find("tree", this.panel);
    const [top, bottom] = [row.offsetTop - box.offsetTop, row.offsetTop - box.offsetTop + row.offsetHeight];
    if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
  }

  #click(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const row = event.target.closest("[role=treeitem]");
    const toggle = event.target.closest("[data-all]");
    if (!row && !toggle) return;
    if (!this.model.source.grows && !row?.dataset.seq && !row?.dataset.open) return;
    event.preventDefault();
    if (toggle) {
      this.all = !this.all;
      this.reload();
    } else if (row.matches("[data-more]")) {
      this.reload({ rows: new URL(row.href).searchParams.get("rows") });
    } else this.#open(row);
  }

  #open(row) {
    this.#rove(row);
    if (row.dataset.seq) this.model.goTo(Number(row.dataset.seq), row.dataset.in);
    else this.#expand(row);
  }

  async #expand(row) {
    const html = await this.#ask({ open: row.dataset.open, run: 1 });
    const fresh = parsed(html).filter((node) => node.nodeType === Node.ELEMENT_NODE);
    if (!fresh.length) return;
    const focused = row === document.activeElement;
    this.opened.add(firstOf(row));
    row.before(...fresh);
    row.hidden = true;
    row.setAttribute("aria-expanded", "true");
    this.#narrow();
    this.#rove(fresh[0]);
    if (focused) fresh[0].focus();
    this.select();
  }

  #collapse(row) {
    const { run } = row.dataset;
    const whole = run && this.panel.querySelector(`[data-open="${CSS.escape(run)}"][hidden]`);
    if (!whole) return;
    this.#drop(run);
    this.opened.delete(firstOf(whole));
    whole.hidden = false;
    whole.setAttribute("aria-expanded", "false");
    this.#rove(whole);
    whole.focus();
  }

  #drop(run) {
    for (const row of this.panel.querySelectorAll(`[data-run="${CSS.escape(run)}"]`)) {
      if (row.dataset.open) this.#drop(row.dataset.open);
      row.remove();
    }
  }

  #key(event) {
    const row = event.target.closest("[role=treeitem]");
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const rows = this.rows.filter((each) => !each.hidden && !each.classList.contains("out"));
    const place = rows.indexOf(row);
    const focus = (target) => {
      if (!target) return;
      this.#rove(target);
      target.focus();
    };
    const acts = {
      ArrowDown: () => focus(rows[place + 1]),
      ArrowUp: () => focus(rows[place - 1]),
      Home: () => focus(rows[0]),
      End: () => focus(rows.at(-1)),
      ArrowRight: () => (row.dataset.open ? this.#expand(row) : focus(rows[place + 1])),
      ArrowLeft: () => (row.dataset.run ? this.#collapse(row) : focus(rows[place - 1])),
      " ": () => row.click(),
    };
    if (!acts[event.key] || event.shiftKey) return;
    event.preventDefault();
    acts[event.key]();
  }
}

const firstOf = (row) => row.dataset.open.split("-")[0];
