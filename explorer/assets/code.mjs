// Texts of stages side by side: a line that is chosen shows what it came from, and what became of it.

import { LongList, announce, el, menu, plural } from "./dom.mjs";

const TOKEN = /(\/\/.*$|;.*$)|("(?:[^"\\]|\\.)*")|(%[\w$.-]+(?:#\d+)?)|([@#][\w$.-]+)|(!?\b(?:tensor|memref|vector|f16|bf16|f32|f64|index|i\d+|ui\d+)\b(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>)?)|(\b\d[\w.+]*)|([\w.]+)/g;
const CLASSES = ["comment", "string", "value", "symbol", "type", "digits"];

/** A line of IR or code with its words coloured. */
export function coloured(text, isCode) {
  const out = [];
  let last = 0, words = 0;
  if (text.length > 600) return [text];
  for (const found of text.matchAll(TOKEN)) {
    if (found.index > last) out.push(text.slice(last, found.index));
    last = found.index + found[0].length;
    const kind = found.slice(1).findIndex((one) => one !== undefined);
    let name = CLASSES[kind];
    if (kind === 6) name = words++ === 0 || (!isCode && found[0].includes(".")) ? "op" : undefined;
    if (isCode && kind === 2) name = "value";
    out.push(name ? el("span", { class: name }, found[0]) : found[0]);
  }
  out.push(text.slice(last));
  return out;
}

/** A stage's text, or the lines of a kernel in it. */
class Column {
  constructor(owner, stage) {
    this.owner = owner;
    this.list = new LongList({
      label: "Text", height: 19, className: "code",
      draw: (row) => this.draw(row), act: (row) => owner.choose(this, this.rows[row]), move: (row) => owner.choose(this, this.rows[row]),
    });
    this.stage = stage;
    this.linked = new Set();
    this.chosen = new Set();
    this.found = el("span", { class: "found" });
    const step = (text, label, by) => el("button", { type: "button", title: label, "aria-label": label, onclick: () => this.step(by) }, text);
    this.picker = el("span");
    this.element = el("section", { class: "column" }, el("header", {}, this.picker, this.found, step("▲", "Linked lines before", -1), step("▼", "Linked lines after", 1)), this.list.element);
  }

  fill(keep) {
    const { texts, kernel } = this.owner;
    const text = texts.stages[this.stage];
    this.text = text;
    const options = texts.stages.map((one, i) => [i, one.isCode ? `code (${one.name})` : one.name]);
    this.picker.replaceChildren(menu("Stage", options, this.stage, (value) => this.owner.change(this, Number(value))));
    const ranges = kernel ? text.ofKernel(kernel.kernel) : [];
    this.rows = [];
    if (ranges.length) {
      for (const [start, end] of ranges) for (let line = start; line < end; line++) this.rows.push(line);
      const aliases = text.aliases(this.rows);
      this.rows = [...aliases, ...this.rows];
    } else this.rows = text.lines.map((_, line) => line);
    this.rowOf = new Map(this.rows.map((line, row) => [line, row]));
    this.list.element.setAttribute("aria-label", `Text of ${options[this.stage][1]}`);
    this.list.fill(this.rows.length, keep);
  }

  draw(row) {
    const line = this.rows[row];
    const text = this.text.lines[line];
    const className = this.chosen.has(line) ? "chosen" : this.linked.has(line) ? "linked" : "";
    return { content: [el("span", { class: "line-number", "aria-hidden": "true" }, String(line + 1)), el("span", { class: "line" }, coloured(text, this.text.isCode))], className, selected: className !== "" };
  }

  show(linked, chosen, scroll) {
    this.linked = linked;
    this.chosen = chosen;
    this.hits = [...linked].filter((line) => this.rowOf.has(line)).map((line) => this.rowOf.get(line)).sort((a, b) => a - b);
    this.found.textContent = linked.size ? `${plural(this.hits.length, "line")}${this.hits.length < linked.size ? `, ${linked.size - this.hits.length} elsewhere` : ""}` : "";
    if (scroll && this.hits.length) this.list.reveal(this.hits[0]);
    this.list.redraw();
  }

  step(by) {
    if (!this.hits?.length) return;
    this.at = ((this.at ?? (by > 0 ? -1 : 0)) + by + this.hits.length) % this.hits.length;
    this.list.current = this.hits[this.at];
    this.list.reveal(this.hits[this.at]);
    this.list.mark();
  }
}

/** Columns of stages of a part of a compilation, for a kernel or the whole. */
export class Code {
  constructor({ texts, kernel, stages, nodesOf, openNode, openKernel }) {
    Object.assign(this, { texts, kernel, nodesOf, openNode, openKernel });
    this.origin = el("p", { class: "origin", role: "status" }, "Choose a line to see what it came from and what became of it.");
    this.columns = stages.map((stage) => new Column(this, stage));
    this.box = el("div", { class: "columns" }, this.columns.map((one) => one.element));
    const more = el("button", { type: "button", onclick: () => this.add() }, "+ column");
    const fewer = el("button", { type: "button", onclick: () => this.drop() }, "− column");
    this.element = el("div", { class: "code-view" }, el("div", { class: "bar" }, this.origin, more, fewer), this.box);
    this.columns.forEach((one) => one.fill());
  }

  add() {
    const last = this.columns.at(-1)?.stage ?? -1;
    if (this.columns.length >= 5) return;
    const column = new Column(this, Math.min(last + 1, this.texts.stages.length - 1));
    this.columns.push(column);
    this.box.append(column.element);
    column.fill();
    this.refresh(column);
  }

  drop() {
    if (this.columns.length > 1) this.columns.pop().element.remove();
  }

  change(column, stage) {
    column.stage = stage;
    column.fill();
    this.refresh(column);
  }

  refresh(column) {
    if (this.links) column.show(this.links[column.stage], this.picked?.stage === column.stage ? new Set(this.picked.lines) : new Set(), true);
  }

  choose(column, line) {
    this.pick(column.stage, [line], column);
  }

  /** Shows what has to do with some lines of a stage. */
  pick(stage, lines, from) {
    this.picked = { stage, lines };
    this.links = this.texts.linked(stage, lines);
    for (const column of this.columns)
      column.show(this.links[column.stage], column.stage === stage ? new Set(lines) : new Set(), column !== from);
    this.tell();
  }

  tell() {
    const nodes = this.nodesOf(this.links[0]);
    const last = this.links.at(-1).size;
    const counts = this.texts.stages.map((one, i) => (this.links[i].size ? `${one.isCode ? "code" : one.name} ${this.links[i].size}` : "")).filter(Boolean);
    this.origin.replaceChildren(...(nodes.length ? ["From ", ...nodes.slice(0, 4).flatMap((node) => [el("button", { type: "button", class: "link", onclick: () => this.openNode(node.id) }, node.name), " "]), nodes.length > 4 ? `and ${nodes.length - 4} more ` : ""] : ["No node of the model. "]), el("span", { class: "weak" }, `lines: ${counts.join(", ")}`));
    const called = this.calledKernel();
    if (called) this.origin.append(" ", el("button", { type: "button", class: "link", onclick: () => this.openKernel(called) }, `go to ${called}`));
    announce(`${plural(nodes.length, "node")}, ${plural(last, "line")} of code`);
  }

  // The kernel that a chosen line calls.
  calledKernel() {
    const { stage, lines } = this.picked;
    const found = /\bcall @([\w$.-]+)/.exec(this.texts.stages[stage].lines[lines[0]] ?? "");
    return found?.[1];
  }
}
