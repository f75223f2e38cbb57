// The tree of scopes and nodes, and the search through all that a compilation has.

import { LongList, announce, el, plural } from "./dom.mjs";
import { familyOf } from "./graph.mjs";

const MOST_FOUND = 200;

export class Outline {
  /** `choose(node)` for a node, `openKernel(kernel)`, and `openLine(part, stage, line)` for a line of text. */
  constructor({ graph, compilation, choose, openKernel, openLine, markOf }) {
    Object.assign(this, { graph, compilation, choose, openKernel, openLine, markOf });
    this.open = new Set([0]);
    this.selected = -1;
    this.query = "";
    this.list = new LongList({
      label: "Nodes by scope", height: 26, className: "tree",
      draw: (row) => this.draw(this.rows[row]),
      act: (row) => this.act(this.rows[row]),
      keys: (event, row) => this.key(event, this.rows[row]),
    });
    this.input = el("input", {
      type: "search", placeholder: "Search nodes, kernels, code", "aria-label": "Search nodes, kernels and code",
      autocomplete: "off", spellcheck: "false", oninput: () => this.search(this.input.value),
      onkeydown: (event) => {
        if (event.key === "ArrowDown") this.list.element.focus(), this.list.go(0), event.preventDefault();
        if (event.key === "Enter" && this.rows.length) this.act(this.rows.find((one) => one.kind !== "head") ?? this.rows[0]);
      },
    });
    this.count = el("p", { class: "count" });
    this.element = el("div", { class: "outline" }, el("div", { class: "searching", role: "search" }, this.input), this.count, this.list.element);
    this.fill();
  }

  fill() {
    this.rows = [];
    const visit = (scope, depth) => {
      for (const box of this.graph.scopes[scope].boxes) {
        this.rows.push({ kind: box < 0 ? "scope" : "node", id: box < 0 ? -1 - box : box, depth });
        if (box < 0 && this.open.has(-1 - box)) visit(-1 - box, depth + 1);
      }
    };
    visit(0, 0);
    this.count.textContent = plural(this.graph.nodes.length, "node");
    this.list.fill(this.rows.length, true);
  }

  draw(row) {
    const indent = el("span", { class: "indent" });
    indent.style.width = `${10 + 14 * (row.depth ?? 0)}px`;
    if (row.kind === "head") return { content: row.text, className: "head" };
    if (row.kind === "scope") {
      const isOpen = this.open.has(row.id);
      const state = el("span", { class: "hidden" }, isOpen ? ", open scope" : ", closed scope");
      return { content: [indent, el("span", { class: "twist", "aria-hidden": "true" }, isOpen ? "▾" : "▸"), this.graph.scopes[row.id].name, state] };
    }
    if (row.kind === "node") {
      const node = this.graph.nodes[row.id];
      const mark = this.markOf(row.id);
      const place = this.query ? [" ", el("span", { class: "weak" }, this.graph.path(row.id).join("/"))] : "";
      const content = [indent, el("span", { class: `dot ${familyOf(node.kind)}` }), el("b", {}, node.kind), " ", el("span", { class: "name" }, node.name), place, mark && [" ", el("span", { class: `badge ${mark}` }, mark)]];
      return { content, selected: row.id === this.selected };
    }
    if (row.kind === "kernel") return { content: [indent, el("span", { class: "name" }, row.kernel.kernel)] };
    return { content: [indent, el("span", { class: "weak" }, `${row.stageName}:${row.line + 1}`), " ", el("code", {}, row.text.trim().slice(0, 200))] };
  }

  act(row) {
    if (!row) return;
    if (row.kind === "scope") {
      if (!this.open.delete(row.id)) this.open.add(row.id);
      this.fill();
    } else if (row.kind === "node") this.choose(row.id);
    else if (row.kind === "kernel") this.openKernel(row.kernel);
    else if (row.kind === "line") this.openLine(row.part, row.stage, row.line);
  }

  key(event, row) {
    if (!row || row.kind !== "scope") return false;
    const isOpen = this.open.has(row.id);
    if ((event.key === "ArrowRight" && !isOpen) || (event.key === "ArrowLeft" && isOpen)) {
      this.act(row);
      return true;
    }
    return false;
  }

  select(node) {
    this.selected = node;
    if (node >= 0 && !this.query) {
      for (let at = this.graph.nodes[node].scope; at > 0; at = this.graph.scopes[at].parent) this.open.add(at);
      this.fill();
      const row = this.rows.findIndex((one) => one.kind === "node" && one.id === node);
      this.list.current = row;
      this.list.reveal(row);
    }
    this.list.redraw();
  }

  async search(text) {
    this.query = text.trim().toLowerCase();
    const asked = this.query;
    if (!asked) return this.fill();
    const nodes = [];
    for (const node of this.graph.nodes) {
      const words = `${node.kind} ${this.graph.fullName(node.id)} ${node.ops.map(([op]) => op).join(" ")}`.toLowerCase();
      if (words.includes(asked)) nodes.push({ kind: "node", id: node.id });
    }
    const kernels = this.compilation.kernels.filter((one) => one.kernel.toLowerCase().includes(asked)).map((kernel) => ({ kind: "kernel", kernel }));
    this.found(nodes, kernels, []);
    if (asked.length < 3) return;
    const lines = [];
    for (const part of this.compilation.parts.keys()) {
      const texts = await this.compilation.text(part);
      for (const [at, stage] of texts.stages.entries()) {
        for (let number = 0; number < stage.lines.length && lines.length < MOST_FOUND; number++)
          if (stage.lines[number].toLowerCase().includes(asked)) lines.push({ kind: "line", part, stage: at, stageName: stage.name, line: number, text: stage.lines[number] });
        await new Promise((resolve) => setTimeout(resolve, 0));
        if (this.query !== asked) return;
      }
    }
    this.found(nodes, kernels, lines);
  }

  found(...groups) {
    const names = ["Nodes", "Kernels", "Code"];
    this.rows = groups.flatMap((rows, i) => (rows.length
      ? [{ kind: "head", text: `${names[i]}: ${rows.length === MOST_FOUND ? "the first " : ""}${rows.length}` }, ...rows] : []));
    const count = groups.reduce((sum, rows) => sum + rows.length, 0);
    this.count.textContent = count ? `${count} found` : "nothing is called so";
    announce(this.count.textContent);
    this.list.fill(this.rows.length);
    this.list.element.scrollTop = 0;
  }
}
