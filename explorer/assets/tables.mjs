// All kernels in a table, and two compilations side by side.

import { differences } from "./diff.mjs";
import { LongList, amount, duration, el, menu, percent, plural, table } from "./dom.mjs";
import { leastTime } from "./measure.mjs";

/** Columns of what only compilations have whose kernels can be timed here. */
const MEASURED = ["measured", "here"];

/** The kernels of a compilation, slowest first, with what was measured of them. */
export class Kernels {
  constructor(app) {
    this.app = app;
    this.order = ["total", -1];
    this.element = el("div", { class: "kernels" });
    app.watch(() => this.element.isConnected && this.draw());
  }

  columns() {
    const { words } = this.app.table;
    const { times } = this.app;
    const limits = this.app.limitsOf(this.app.compilation);
    return [
      ["kernel", "Kernel", (one) => one.kernel, (one) => el("button", { type: "button", class: "link", onclick: () => this.app.openKernel(one) }, one.kernel)],
      ["calls", "#Calls", (one) => one.calls, (one) => one.calls],
      ["call", "#Expected, a call", (one) => one.microseconds ?? 0, (one) => (one.microseconds === null ? "" : duration(one.microseconds))],
      ["total", "#All calls", (one) => one.total, (one) => this.share(one)],
      ["bound", "Bound by", (one) => words[one.bound] ?? one.bound, (one) => words[one.bound] ?? one.bound],
      ["roof", "#Of roofline", (one) => part(one) ?? -1, (one) => percent(part(one) ?? NaN)],
      ["measured", "#Measured here", (one) => times.get(one)?.median ?? -1, (one) => measuredText(times.get(one))],
      ["here", "#Of this machine's", (one) => hereOf(one, times, limits) ?? -1, (one) => percent(hereOf(one, times, limits) ?? NaN)],
      ["nodes", "Nodes", (one) => one.nodes.length, (one) => el("span", { class: "weak of-nodes" }, one.nodes.slice(0, 3).map((id) => one.of.graph.nodes[id].name).join(", ") + (one.nodes.length > 3 ? `, and ${one.nodes.length - 3} more` : ""))],
    ];
  }

  share(one) {
    const bar = el("span", { class: "bar" });
    bar.style.width = percent(one.total / (one.of.microseconds || 1)).replace(" ", "");
    return el("span", { class: "share" }, el("span", { class: "track" }, bar), duration(one.total));
  }

  draw() {
    const { compilation, meter } = this.app;
    const timeable = compilation.kernels.filter((one) => !meter.obstacle(one));
    const columns = this.columns().filter(([name]) => timeable.length || !MEASURED.includes(name));
    const [key, sign] = this.order;
    const value = (columns.find(([name]) => name === key) ?? columns[0])[2];
    const sorted = [...compilation.kernels].sort((a, b) => sign * (value(a) > value(b) ? 1 : value(a) < value(b) ? -1 : 0));
    const heads = columns.map(([name, text]) => el("th", { scope: "col", class: text.startsWith("#") && "number", "aria-sort": name === key ? (sign > 0 ? "ascending" : "descending") : undefined },
      el("button", { type: "button", onclick: () => this.sort(name) }, text.replace(/^#/, ""), name === key ? (sign > 0 ? " ▲" : " ▼") : "")));
    const rows = sorted.map((one) => el("tr", { class: one === this.app.details.kernel ? "chosen" : "" }, columns.map(([, text, , show]) => el("td", { class: text.startsWith("#") && "number" }, show(one)))));
    const timed = this.app.table.compilations.filter((one) => one.model === compilation.model && one !== compilation && one.kernels.some((kernel) => !meter.obstacle(kernel)));
    const start = timeable.length
      ? el("button", { type: "button", class: "primary", disabled: this.app.busy, onclick: () => this.app.measure(timeable) }, `▶ Measure ${plural(timeable.length, "kernel")} on this machine`)
      : timed.length ? timed.map((one) => el("button", { type: "button", onclick: () => this.app.open(one) }, `Go to '${one.target}', which can be measured here`))
      : el("span", { class: "weak" }, compilation.kernels.length ? meter.obstacle(compilation.kernels[0]) : "The model has no kernels.");
    this.element.replaceChildren(el("div", { class: "bar-line" }, el("h2", {}, "Kernels"), start, this.sum(timeable)),
      el("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Kernels" }, el("table", {}, el("caption", { class: "hidden" }, "Kernels"), el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows))));
  }

  sum(kernels) {
    const done = kernels.filter((one) => this.app.times.get(one)?.median);
    if (!done.length) return "";
    const whole = done.reduce((sum, one) => sum + one.calls * this.app.times.get(one).median, 0);
    return el("span", { class: "weak", role: "status" }, done.length < kernels.length ? `${done.length} of ${kernels.length} done` : `${duration(whole)} for all calls of a run, ${this.app.meter.engineOf(this.app.compilation) === "gpu" ? "on the GPU" : "one thread"}`);
  }

  sort(name) {
    this.order = [name, this.order[0] === name ? -this.order[1] : name === "kernel" || name === "bound" ? 1 : -1];
    this.draw();
    [...this.element.querySelectorAll("th button")][this.columns().findIndex(([one]) => one === name)]?.focus();
  }
}

const part = (one) => (one.roofline && one.microseconds ? one.roofline.microseconds / one.microseconds : null);
const measuredText = (time) => (time?.median ? duration(time.median) : time?.state ?? "");

function hereOf(one, times, limits) {
  const time = times.get(one)?.median;
  const least = limits && leastTime(limits, one);
  return time && least ? least.microseconds / time : null;
}

// -- two compilations ----------------------------------------------------------------------------------

/** What differs between two compilations, of one model or of two. */
export class Comparison {
  constructor(a, b) {
    Object.assign(this, { a, b });
    const names = (one) => new Map(one.graph.nodes.map((node) => [one.graph.fullName(node.id), node]));
    const [left, right] = [names(a), names(b)];
    this.marks = new Map();
    this.onlyB = [...right].filter(([name]) => !left.has(name)).map(([, node]) => node);
    for (const [name, node] of left) {
      const other = right.get(name);
      if (!other) this.marks.set(node.id, "added");
      else if (this.differ(node, other)) this.marks.set(node.id, "changed");
    }
    this.pairs = this.paired(left, right);
  }

  differ(node, other) {
    const text = ({ kind, ops, types }) => JSON.stringify([kind, ops, types]);
    return text(node) !== text(other) || this.partners(this.a, node) !== this.partners(this.b, other);
  }

  // The nodes that share kernels with a node.
  partners(compilation, node) {
    return JSON.stringify((compilation.ofNode.get(node.id) ?? []).map((kernel) => kernelKey(kernel)));
  }

  /** [kernel of a, kernel of b], undefined where there is none of the same nodes. */
  paired(left, right) {
    const used = new Set(), pairs = [];
    for (const kernel of this.a.kernels) {
      const scores = new Map();
      for (const id of kernel.nodes) {
        const other = right.get(this.a.graph.fullName(id));
        for (const one of (other && this.b.ofNode.get(other.id)) ?? []) if (!used.has(one)) scores.set(one, (scores.get(one) ?? 0) + 1 / (1 + Math.abs(one.nodes.length - kernel.nodes.length)));
      }
      const best = [...scores].sort((p, q) => q[1] - p[1])[0]?.[0];
      if (best) used.add(best);
      pairs.push([kernel, best]);
    }
    for (const kernel of this.b.kernels) if (!used.has(kernel)) pairs.push([undefined, kernel]);
    return pairs;
  }

  /** Whether the schedules of a pair are the same text. */
  async sameSchedule([one, other]) {
    const lines = async (kernel) => {
      const texts = await kernel.of.text(kernel.part);
      const stage = texts.stages[texts.at("schedule")];
      if (!stage) return "";
      return stage.ofKernel(kernel.kernel).flatMap(([start, end]) => stage.lines.slice(start, end)).filter((line) => /^\s*(%.* = )?schedule\.(?!for)/.test(line)).join("\n");
    };
    return (await lines(one)) === (await lines(other));
  }
}

const kernelKey = (kernel) => kernel.nodes.map((id) => kernel.of.graph.fullName(id)).sort().join("\n");

export class CompareView {
  constructor(app) {
    this.app = app;
    this.element = el("div", { class: "compare" });
  }

  draw() {
    const { app } = this;
    const { comparison } = app;
    if (!comparison) {
      const text = app.table.compilations.length > 1 ? "Choose in the head what to compare with." : "The page has one compilation. `nnc explore MODEL OTHER` and `--target A,B` make pages with two.";
      return this.element.replaceChildren(el("h2", {}, "Side by side"), el("p", { class: "note" }, text));
    }
    this.element.replaceChildren(el("h2", {}, `${comparison.a.label} beside ${comparison.b.label}`), this.summary(comparison), this.nodes(comparison), this.kernels(comparison), (this.texts = el("div", { class: "texts" })));
  }

  summary({ a, b }) {
    const row = (name, of) => [name, of(a), of(b)];
    return table("Two compilations", ["What", `A: ${a.label}`, `B: ${b.label}`], [
      row("Nodes", (one) => String(one.graph.nodes.length)), row("Kernels", (one) => `${one.kernels.length} in ${plural(one.calls, "call")}`),
      row("Expected", (one) => duration(one.microseconds)), row("Operations", (one) => amount(one.kernels.reduce((sum, kernel) => sum + kernel.calls * (kernel.operations ?? 0), 0))),
      row("Steps of the host", (one) => String(one.host.length)), row("Target", (one) => `${one.target}: ${one.summary}`),
    ]);
  }

  nodes({ a, b, marks, onlyB }) {
    if (a.graph === b.graph) return el("p", {}, marks.size ? `${plural(marks.size, "node")} of ${a.graph.nodes.length} share kernels with other nodes in A than in B; the graph marks them.` : "The same nodes share kernels in both.");
    const added = [...marks].filter(([, mark]) => mark === "added").length;
    return el("p", {}, `${plural(added, "node")} only in A, ${onlyB.length} only in B, ${marks.size - added} of the same name differ; the graph marks those of A. `, onlyB.length ? el("details", {}, el("summary", {}, "Only in B"), el("p", { class: "weak" }, onlyB.slice(0, 200).map((node) => b.graph.fullName(node.id)).join(", "))) : "");
  }

  kernels({ a, b, pairs }) {
    const name = (kernel) => kernel ? el("button", { type: "button", class: "link", onclick: () => this.app.openKernel(kernel) }, kernel.kernel) : el("span", { class: "weak" }, "none");
    const rows = pairs.map((pair) => {
      const [one, other] = pair;
      const badge = el("span", { class: "badge" });
      const kernel = one ?? other;
      if (one && other) {
        const grouped = kernelKey(one) === kernelKey(other);
        badge.textContent = grouped ? "…" : "other nodes";
        badge.classList.add(grouped ? "same" : "changed");
        if (grouped) this.app.comparison.sameSchedule(pair).then((same) => {
          badge.textContent = same ? "same schedule" : "schedule differs";
          badge.classList.toggle("same", same);
          badge.classList.toggle("changed", !same);
        });
      } else {
        badge.textContent = one ? "only in A" : "only in B";
        badge.classList.add("added");
      }
      const ratio = one?.total && other?.total ? `${(other.total / one.total).toFixed(2)} ×` : "";
      const show = one && other ? el("button", { type: "button", onclick: () => this.show(pair) }, "Show") : "";
      return [el("span", { class: "weak" }, kernel.nodes.slice(0, 2).map((id) => kernel.of.graph.fullName(id)).join(", ") + (kernel.nodes.length > 2 ? ` +${kernel.nodes.length - 2}` : "")), name(one), one ? duration(one.total) : "", name(other), other ? duration(other.total) : "", ratio, badge, show];
    });
    return table(`Kernels of ${a.label} and ${b.label}`, ["Nodes", "Kernel of A", "#All calls", "Kernel of B", "#All calls", "#B for A", "Differs", "Texts"], rows);
  }

  async show([one, other], name = "schedule") {
    const [left, right] = await Promise.all([one.of.text(one.part), other.of.text(other.part)]);
    const names = left.stages.filter((stage) => right.stages.some((that) => that.name === stage.name || (that.isCode && stage.isCode)));
    const pick = (texts) => texts.stages.find((stage) => (name === "code" ? stage.isCode : stage.name === name));
    const lines = (texts, kernel) => {
      const stage = pick(texts);
      const ranges = stage?.ofKernel(kernel.kernel) ?? [];
      return (ranges.length ? ranges : [[0, stage?.lines.length ?? 0]]).flatMap(([start, end]) => stage?.lines.slice(start, end) ?? []);
    };
    const [a, b] = [lines(left, one), lines(right, other)];
    const pairs = differences(a.map((line) => line.trim()), b.map((line) => line.trim()));
    const half = (text, mark) => el("span", { class: `half ${mark}`, title: text ?? "" }, text ?? "");
    const list = new LongList({
      label: `Both texts of stage ${name}`, height: 19, className: "code diff", act: () => {},
      draw: (row) => {
        const [x, y] = pairs[row];
        const mark = x === undefined ? "added" : y === undefined ? "removed" : "";
return { content: [half(a[x], x !== undefined && mark), half(b[y], y !== undefined && mark)] };
      },
    });
    const changed = pairs.filter(([x, y]) => x === undefined || y === undefined).length;
    this.texts.replaceChildren(el("div", { class: "bar-line" }, el("h3", {}, `${one.kernel} beside ${other.kernel}`), menu("Stage", names.map((stage) => [stage.isCode ? "code" : stage.name, stage.isCode ? "code" : stage.name]), name, (value) => this.show([one, other], value)), el("span", { class: "weak", role: "status" }, changed ? `${plural(changed, "line")} differ` : "no line differs")), list.element);
    list.fill(pairs.length);
    this.texts.scrollIntoView({ block: "nearest" });
  }
}
