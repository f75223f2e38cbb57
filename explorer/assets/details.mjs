// What is known of a node or a kernel: its kernels, reasons, schedule and loops, instructions, stages, time.

import { Code } from "./code.mjs";
import { amount, duration, el, percent, plural, table } from "./dom.mjs";
import { leastTime } from "./measure.mjs";
import { reasons } from "./reasons.mjs";
import { roofline } from "./roofline.mjs";

const TABS = [["why", "Why"], ["schedule", "Schedule & loops"], ["code", "Instructions"], ["stages", "All stages"], ["edit", "Edit"], ["measure", "Measure"]];

export class Details {
  /** `app` gives compilation, table, meter, times, and goes to nodes and kernels. */
  constructor(app) {
    this.app = app;
    this.tab = "why";
    this.element = el("section", { class: "details", "aria-label": "Details" });
    this.show({});
  }

  /** Shows a node, a kernel, or a node with one of its kernels; `line` is chosen in its text. */
  async show({ node = null, kernel = null, tab = this.tab, pick = null, part = 0 }) {
    const { compilation } = this.app;
    const mine = node === null ? [] : compilation.ofNode.get(node) ?? [];
    Object.assign(this, { node, mine, kernel: kernel ?? mine[0] ?? null, tab, pick, part: kernel?.part ?? mine[0]?.part ?? part });
    if (!this.kernel && pick) this.tab = "stages";
    await this.draw();
  }

  async draw() {
    const { node, kernel } = this;
    if (node === null && !kernel && !this.pick) {
      this.element.replaceChildren(el("div", { class: "nothing" }, el("h2", {}, "Nothing chosen"), el("p", {}, "Choose a node in the graph or the outline, a kernel in the table, or a point of the roofline.")));
      return;
    }
    const close = el("button", { type: "button", class: "close", "aria-label": "Close the details", title: "Close (Escape)", onclick: () => this.app.clear() }, "✕");
    const wide = el("button", { type: "button", class: "wide-button", "aria-label": "Wider or narrower", title: "Wider or narrower", onclick: () => this.app.widen() }, "⇔");
    this.body = el("div", { class: "tab-body", role: "tabpanel", id: "tab-body", tabindex: 0, "aria-labelledby": `tab-${this.tab}` });
    this.element.replaceChildren(el("div", { class: "details-head" }, wide, close, this.head()), this.chips(), kernel || this.pick ? this.tabs() : "", this.body);
    await this.fill();
  }

  head() {
    const { app: { compilation: { graph } }, node, kernel } = this;
    if (node === null) {
      if (!kernel) return el("h2", {}, "Text");
      return [el("h2", {}, kernel.kernel), el("p", { class: "weak" }, `kernel, ${plural(kernel.calls, "call")} in a run`)];
    }
    const one = graph.nodes[node];
    const ops = one.ops.map(([name, count]) => (count > 1 ? `${count} × ${name}` : name)).join(", ");
    return [
      el("p", { class: "path" }, graph.path(node).join(" / ")),
      el("h2", {}, el("span", { class: "kind" }, one.kind), " ", one.name),
      el("p", { class: "weak" }, [one.types.join(", "), ops && ` · ${ops}`]),
    ];
  }

  chips() {
    const { node, mine, kernel, app } = this;
    if (node !== null) {
      if (!mine.length) return el("p", { class: "note" }, "No kernel came from it: it was folded into constants, only moves data, or is an input or output.");
      return el("div", { class: "chips", role: "group", "aria-label": "Kernels of this node" }, el("span", { class: "weak" }, mine.length > 1 ? "Kernels" : "Kernel"), mine.map((one) => el("button", { type: "button", class: "chip", "aria-pressed": String(one === kernel), onclick: () => this.show({ node, kernel: one }) }, one.kernel)), this.others());
    }
    return kernel ? el("div", { class: "chips", role: "group", "aria-label": "Nodes of this kernel" }, el("span", { class: "weak" }, "Nodes"), this.nodeChips(kernel.nodes), this.others()) : "";
  }

  nodeChips(nodes, most = 12) {
    const { graph } = this.app.compilation;
    const shown = nodes.slice(0, most).map((id) => el("button", { type: "button", class: "chip", title: graph.fullName(id), onclick: () => this.app.openNode(id) }, graph.nodes[id].name));
    return nodes.length > most ? [...shown, el("span", { class: "weak" }, `and ${nodes.length - most} more`)] : shown;
  }

  // The nodes that are in the same kernel.
  others() {
    const { kernel, node } = this;
    if (node === null || !kernel || kernel.nodes.length < 2) return "";
    return [el("span", { class: "weak" }, "together with"), this.nodeChips(kernel.nodes.filter((id) => id !== node), 5)];
  }

  tabs() {
    const known = TABS.filter(([name]) => this.kernel || name === "stages");
    const made = known.map(([name, text]) => el("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(name === this.tab), "aria-controls": "tab-body", tabindex: name === this.tab ? 0 : -1, onclick: () => this.choose(name),
    }, text));
    return el("div", { class: "tabs", role: "tablist", "aria-label": "About the kernel", onkeydown: (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const at = known.findIndex(([name]) => name === this.tab);
      this.choose(known[(at + by + known.length) % known.length][0]);
    } }, made);
  }

  async choose(tab) {
    this.tab = tab;
    this.app.noteState();
    await this.draw();
    this.element.querySelector(`#tab-${tab}`)?.focus();
  }

  async fill() {
    const { kernel, tab, app } = this;
    if (!kernel && !this.pick) return;
    if (tab === "why") return this.body.replaceChildren(reasons(kernel, app.table.words), this.place());
    if (tab === "measure") return this.body.replaceChildren(this.measuring());
    const texts = await app.compilation.text(this.part);
    if (tab === "edit") return this.body.replaceChildren(app.editors.view(kernel, texts));
    const at = texts.at("schedule"), last = texts.stages.length - 1;
    const stages = tab === "schedule" ? [at, at + 1] : tab === "code" ? [last - 1, last] : [0, texts.at("make-kernels"), at + 1];
    const fits = this.body.clientWidth || 600;
    const columns = [...new Set(stages)].filter((stage) => stage >= 0 && stage <= last).slice(fits < 420 ? -1 : 0);
    this.code = new Code({ texts, kernel, stages: this.pick && !columns.includes(this.pick.stage) ? [this.pick.stage, ...columns.slice(1)] : columns, nodesOf: (lines) => this.nodesOf(lines), openNode: (id) => app.openNode(id), openKernel: (name) => this.openNamed(name) });
    this.body.replaceChildren(this.code.element);
    if (this.pick) this.code.pick(this.pick.stage, [this.pick.line]);
    else if (this.node !== null) {
      this.origin = tab === "stages" || !kernel ? this.node : this.originOf(texts, columns.at(-1));
      this.code.pick(0, app.compilation.graph.nodes[this.origin].lines);
    }
  }

  /**
   * The node that the kernel's text came from: equal kernels have one text, made of the nodes of the
   * first call. Of another call's node that is the one of its kind, and the node itself where none is.
   */
  originOf(texts, stage) {
    const { node, kernel, app: { compilation: { graph } } } = this;
    const ranges = texts.stages[stage].ofKernel(kernel.kernel);
    const isFirst = (id) => {
      const links = texts.linked(0, graph.nodes[id].lines)[stage];
      return ranges.some(([start, end]) => [...links].some((line) => start <= line && line < end));
    };
    if (isFirst(node)) return node;
    const alike = kernel.nodes.filter((id) => graph.nodes[id].kind === graph.nodes[node].kind);
    const first = alike.filter(isFirst);
    return first[alike.indexOf(node) % first.length] ?? node;
  }

  // Of equal kernels' nodes the one that is looked at stands for the one that the text came from.
  nodesOf(lines) {
    const { graph } = this.app.compilation;
    return this.firstNodesOf(lines).map((one) => (this.node !== null && one.id === this.origin ? graph.nodes[this.node] : one));
  }

  firstNodesOf(lines) {
    const { compilation } = this.app;
    if (compilation.parts.length > 1) return [];
    this.byLine ??= new Map();
    if (this.byLine.of !== compilation) {
      this.byLine = new Map(compilation.graph.nodes.flatMap((node) => node.lines.map((line) => [line, node])));
      this.byLine.of = compilation;
    }
    return [...new Set([...lines].map((line) => this.byLine.get(line)).filter(Boolean))];
  }

  openNamed(name) {
    const { kernels } = this.app.compilation;
    const found = kernels.find((one) => one.kernel === name) ?? kernels.find((one) => name.startsWith(one.kernel));
    if (found) this.show({ kernel: found });
  }

  place() {
    const { app: { compilation }, kernel } = this;
    if (!kernel.operations || !kernel.bytes || !kernel.microseconds) return "";
    return el("div", {}, el("h3", {}, "Its place on the roofline"), roofline({ compilation, chosen: kernel, open: (one) => this.app.openKernel(one) }));
  }

  // -- time --------------------------------------------------------------------------------------------

  /** The kernels that can be timed and came from the same nodes, a list for each compilation: this one, else others. */
  timeable() {
    const { app, kernel } = this;
    if (!app.meter.obstacle(kernel)) return [[kernel]];
    const wanted = new Set(this.node !== null ? [this.node] : kernel.nodes);
    const others = app.table.compilations.filter((one) => one.model === app.compilation.model && one !== app.compilation && app.meter.engineOf(one));
    return others.map((other) => other.kernels.filter((one) => !app.meter.obstacle(one) && one.nodes.some((id) => wanted.has(id)))).filter((found) => found.length);
  }

  measuring() {
    const found = this.timeable();
    if (!found.length) return el("p", { class: "note" }, this.app.meter.obstacle(this.kernel));
    return el("div", { class: "measuring" }, found.map((kernels) => this.engine(kernels)));
  }

  // The kernels of one compilation, and what starts their times.
  engine(kernels) {
    const { app } = this;
    const [{ of }] = kernels;
    const onGpu = app.meter.engineOf(of) === "gpu";
    const start = el("button", { type: "button", class: "primary", onclick: async () => {
      start.disabled = true;
      await app.measure(kernels);
      start.disabled = false;
    } }, onGpu ? "▶ Measure on this machine's GPU" : "▶ Measure on this machine");
    const results = el("div", { "aria-live": "polite" });
    app.watch(() => results.isConnected && results.replaceChildren(this.results(kernels)));
    results.replaceChildren(this.results(kernels));
    const about = onGpu
      ? "Launches the kernel's WGSL on the GPU, batch after batch, with random data, and waits until the GPU has done each batch."
      : "Runs the model's WebAssembly in this page, on one thread, with random data, from the kernels that come before this one to it, and reads the clock around it.";
    return el("section", { class: "measuring" }, el("p", {}, of === app.compilation ? about : `These kernels of '${of.target}' came from the same nodes. ${about}`), start, results);
  }

  results(kernels) {
    const { times } = this.app;
    const limits = this.app.limitsOf(kernels[0].of);
    const rows = kernels.map((kernel) => {
      const time = times.get(kernel);
      const least = limits && leastTime(limits, kernel);
      const fault = this.app.meter.obstacle(kernel);
      return [kernel.kernel, time?.median ? duration(time.median) : time?.state ?? (fault || "not measured"), time?.median ? `${duration(time.low)} to ${duration(time.high)}${time.alone ? ", called alone" : ""}` : "", least ? `${duration(least.microseconds)} by ${least.by}` : "", least && time?.median ? percent(least.microseconds / time.median) : "", time?.median && kernel.operations ? `${amount(kernel.operations / time.median / 1e-6)}/s` : ""];
    });
    const alone = kernels.some((kernel) => times.get(kernel)?.alone);
    const made = [table("Times on this machine", ["Kernel", "#Median", "#Spread", "#Least here", "#Of it", "#Operations"], rows)];
    if (alone) made.push(el("p", { class: "weak" }, "Called alone, over and over, is what this browser's clock cannot tell in a run: its data is nearer than there."));
    if (limits) {
      const measured = kernels.filter((one) => times.get(one)?.median).map((kernel) => ({ kernel, microseconds: times.get(kernel).median }));
      made.push(el("p", { class: "weak" }, `${limits.launch === undefined ? "This machine, one thread" : `This machine's GPU: ${duration(limits.launch)} for a launch`}: ${limits.gflops.toFixed(1)} billion operations a second; reads ${limits.levels.map(([, speed, name]) => `${speed.toFixed(0)} GB/s from the ${name}`).join(", ")}. Point: measured; circle: expected of the target's machine.`));
      made.push(roofline({ compilation: kernels[0].of, chosen: kernels[0], open: (one) => this.app.openKernel(one), measured, limits }));
    }
    return el("div", {}, made);
  }
}
