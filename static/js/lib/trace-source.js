import { checked } from "./post.js";

/** Where the page of a trace gets everything from: the server, or the page itself when it is a file on a disk. */
export function sourceOf(data) {
  return data.inline ? new InlineSource(data) : new ServerSource(data.base);
}

/** `godhand_web/pages/trace_links.py` knows the same addresses. */
export class ServerSource {
  constructor(base) {
    this.base = base;
    this.searches = true;
    this.grows = true;
  }

  path(branch) {
    return this.#json("path/", { branch });
  }

  async times(branch) {
    let last = 0;
    return (await this.#json("path/", { branch, times: 1 })).at.map((difference) => (last += difference));
  }

  async steps(seqs, first) {
    return (await this.#json("steps/", { seqs: seqs.join(","), first })).steps;
  }

  detail(seq, query) {
    return this.#text(`steps/${seq}/`, query);
  }

  tree(query) {
    return this.#text("tree/", query);
  }

  changes(after) {
    return this.#json("changes/", { after });
  }

  search(q) {
    return this.#json("search/", { q });
  }

  picture(sha256) {
    return `${this.base}pictures/${sha256}`;
  }

  sheet({ branch, first, last, version }) {
    return this.#url(`sheets/${first}-${last}.webp`, { branch, ...(version ? { v: version } : {}) });
  }

  #url(path, query) {
    return `${this.base}${path}?${new URLSearchParams(query)}`;
  }

  async #ask(path, query) {
    return checked(await fetch(this.#url(path, query)));
  }

  async #json(path, query) {
    return (await this.#ask(path, query)).json();
  }

  async #text(path, query) {
    return (await this.#ask(path, query)).text();
  }
}

const textOf = (id) => document.getElementById(id)?.textContent ?? "";

/** JSON that was packed with gzip and written as base64. */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/**
 * Everything is in elements of the page: a picture in `picture-<hash>`, and in `trace-packed` the paths by branch, the
 * steps and their words by seq, details by "seq/tab", and runs of the tree by "first-last". `inline.sheets` names the
 * elements of the sheets, by "branch/number". What is missing is not shown. `godhand_web/pages/trace_file.py` writes it.
 */
export class InlineSource {
  constructor({ inline }, find = textOf) {
    this.searches = true;
    this.grows = false;
    this.sheets = inline.sheets;
    this.find = find;
    this.rest = unpacked(find("trace-packed"));
  }

  async path(branch) {
    return (await this.rest).paths[branch];
  }

  async times(branch, seqs) {
    const { steps } = await this.rest;
    return seqs.map((seq) => steps[seq]?.at ?? 0);
  }

  async steps(seqs) {
    const { steps } = await this.rest;
    return seqs.map((seq) => steps[seq]).filter(Boolean);
  }

  async detail(seq, { tab }) {
    const { details } = await this.rest;
    const html = details[`${seq}/${tab}`] ?? details[`${seq}/action`] ?? "";
    return html.replace(/"#((?:picture|file)-[0-9a-f]+)"/g, (_, id) => `"${this.find(id) || "#"}"`);
  }

  async tree({ open }) {
    return (await this.rest).runs[open] ?? "";
  }

  async search(q) {
    const { steps, words } = await this.rest;
    const wanted = q.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = Object.values(steps).filter(({ seq, text }) => {
      const all = `${text} ${words[seq] ?? ""}`.toLowerCase();
      return wanted.length > 0 && wanted.every((word) => all.includes(word));
    });
    return { count: hits.length, problem: "", hits: hits.map(({ seq, branch }) => [seq, branch]) };
  }

  picture(sha256) {
    return this.find(`picture-${sha256}`);
  }

  sheet({ branch, number }) {
    return this.find(this.sheets[`${branch}/${number}`]);
  }
}
