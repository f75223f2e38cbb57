// The page as a whole: what is chosen, and the parts that show it.

import { readTable } from "./data.mjs";
import { Details } from "./details.mjs";
import { Editors } from "./edit.mjs";
import { announce, choices, duration, el, live, menu, plural } from "./dom.mjs";
import { GraphView } from "./graph.mjs";
import { Meter } from "./measure.mjs";
import { Outline } from "./outline.mjs";
import { roofline } from "./roofline.mjs";
import { CompareView, Comparison, Kernels } from "./tables.mjs";

const VIEWS = [["graph", "Graph"], ["kernels", "Kernels"], ["roofline", "Roofline"], ["compare", "Compare"]];
const PANES = [["outline", "Outline"], ["main", "View"], ["details", "Details"]];

class App {
  constructor(table) {
    Object.assign(this, { table, view: "graph", pane: "main", other: null, times: new Map(), limits: new Map(), watchers: [], busy: false });
    this.compilation = table.compilations[0];
    this.meter = new Meter(table);
    this.editors = new Editors(this);
    this.details = new Details(this);
    this.kernels = new Kernels(this);
    this.compared = new CompareView(this);
    this.head = el("header", { class: "head" });
    this.main = el("main", { class: "main", "aria-label": "View" });
    this.side = el("aside", { class: "side", "aria-label": "Outline and search" });
    this.panes = el("nav", { class: "panes", "aria-label": "Parts of the page" });
    this.root = el("div", { class: "frame" }, this.head, this.side, this.main, el("aside", { class: "inspector", "aria-label": "Details" }, this.details.element), this.panes, live);
    document.getElementById("app").replaceChildren(this.root);
    document.addEventListener("keydown", (event) => this.onkey(event));
    addEventListener("hashchange", () => this.readState());
    this.open(this.compilation);
    this.readState();
  }

  // -- what is chosen ------------------------------------------------------------------------------------

  open(compilation) {
    const before = this.graph && this.compilation.graph === compilation.graph ? this.graph : undefined;
    this.compilation = compilation;
    if (this.other === compilation) this.other = null;
    this.compare(this.other, false);
    if (!before) {
      const { graph } = compilation;
      this.graph = new GraphView({ graph, choose: (node) => this.openNode(node), info: (node) => this.infoOf(node) });
    }
    this.outline = new Outline({ graph: compilation.graph, compilation, choose: (node) => this.openNode(node), openKernel: (kernel) => this.openKernel(kernel), openLine: (part, stage, line) => this.openLine(part, stage, line), markOf: (node) => this.comparison?.marks.get(node) ?? "" });
    this.side.replaceChildren(this.outline.element);
    this.shares = undefined;
    this.draw();
    const { node, kernel } = this.details;
    if (before && node !== null) this.openNode(node);
    else if (node !== null || kernel) this.clear();
  }

  compare(other, draws = true) {
    this.other = other;
    this.comparison = other ? new Comparison(this.compilation, other) : null;
    if (!draws) return;
    this.outline.list.redraw();
    this.draw();
  }

  infoOf(node) {
    if (!this.shares) {
      this.shares = new Map();
      for (const kernel of this.compilation.kernels)
        for (const id of kernel.nodes) this.shares.set(id, (this.shares.get(id) ?? 0) + kernel.total / kernel.nodes.length / (this.compilation.microseconds || 1));
    }
    return { share: this.shares.get(node) ?? 0, mark: this.comparison?.marks.get(node) ?? "" };
  }

  openNode(node) {
    const related = (this.compilation.ofNode.get(node) ?? []).flatMap((kernel) => kernel.nodes);
    this.graph.select(node, related);
    this.outline.select(node);
    this.details.show({ node });
    this.showPane("details");
  }

  openKernel(kernel) {
    if (kernel.of !== this.compilation) this.open(kernel.of);
    this.graph.select(-1, kernel.nodes);
    this.outline.select(-1);
    this.details.show({ kernel });
    this.showPane("details");
    if (this.view === "kernels") this.kernels.draw();
  }

  async openLine(part, stage, line) {
    const texts = await this.compilation.text(part);
    const inside = this.compilation.kernels.find((one) => one.part === part && texts.stages[stage].ofKernel(one.kernel).some(([start, end]) => start <= line && line < end));
    this.details.show({ kernel: inside ?? null, tab: "stages", pick: { stage, line }, part });
    this.showPane("details");
  }

  clear() {
    this.graph.select(-1);
    this.outline.select(-1);
    this.details.show({});
    this.showPane("main");
  }

  showPane(pane) {
    this.pane = pane;
    const has = this.details.node !== null || this.details.kernel || this.details.pick;
    this.root.className = `frame ${has ? "has-details" : ""} pane-${pane} ${this.isWide ? "is-wide" : ""}`;
    this.drawPanes();
    this.noteState();
  }

  widen() {
    this.isWide = !this.isWide;
    this.showPane(this.pane);
    this.details.draw();
  }

  // -- the address ---------------------------------------------------------------------------------------

  noteState() {
    const { node, kernel, tab } = this.details;
    const rows = { c: this.compilation.id, v: this.view, d: this.other?.id, n: node ?? undefined, k: kernel?.at, t: tab };
    const text = Object.entries(rows).filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${value}`).join("&");
    this.written = `#${text}`;
    history.replaceState(null, "", this.written);
  }

  readState() {
    if (location.hash === this.written || location.hash.length < 2) return;
    const given = new URLSearchParams(location.hash.slice(1));
    const number = (name) => (/^\d+$/.test(given.get(name) ?? "") ? Number(given.get(name)) : -1);
    const chosen = this.table.compilations[number("c")] ?? this.compilation;
    const other = this.table.compilations[number("d")] ?? null;
    if (chosen !== this.compilation) this.open(chosen);
    this.compare(other === chosen ? null : other);
    this.show(VIEWS.some(([name]) => name === given.get("v")) ? given.get("v") : this.view);
    const tab = ["why", "schedule", "code", "stages", "edit", "measure"].includes(given.get("t")) ? given.get("t") : "why";
    this.details.tab = tab;
    const node = number("n"), kernel = chosen.kernels[number("k")];
    if (chosen.graph.nodes[node]) this.openNode(node);
    else if (kernel) this.openKernel(kernel);
  }

  // -- drawing ---------------------------------------------------------------------------------------------

  draw() {
    this.drawHead();
    this.drawPanes();
    this.drawView();
    this.noteState();
  }

  drawHead() {
    const { compilation: one, table } = this;
    const named = table.compilations.map((each) => [each.id, each.label]);
    const facts = [plural(one.graph.nodes.length, "node"), `${plural(one.kernels.length, "kernel")} in ${plural(one.calls, "call")}`, `${duration(one.microseconds)} expected`];
    if (one.launches !== null) facts.push(plural(one.launches, "launch", "launches"));
    if (one.host.length) facts.push(plural(one.host.length, "step") + " of the host");
    this.head.replaceChildren(
      el("div", { class: "brand" }, el("span", { class: "logo", "aria-hidden": "true" }, "nnc"), el("h1", {}, table.title)),
      el("p", { class: "facts-line" }, facts.join(" · ")),
      el("label", { class: "field" }, el("span", {}, "Compiled for"), menu("Compilation", named, one.id, (id) => this.open(table.compilations[id]))),
      named.length > 1 && el("label", { class: "field" }, el("span", {}, "beside"), menu("Compare with", [["", "nothing"], ...named.filter(([id]) => id !== one.id)], this.other?.id ?? "", (id) => this.compare(id === "" ? null : table.compilations[id]))) || "",
      choices("View", VIEWS, this.view, (view) => this.show(view)));
    this.head.querySelector(".facts-line").title = one.host.join("\n");
  }

  drawPanes() {
    this.panes.replaceChildren(choices("Part", PANES, this.pane, (pane) => this.showPane(pane)));
  }

  show(view) {
    this.view = view;
    this.showPane("main");
    this.drawHead();
    this.drawView();
    this.head.querySelector(`.choices [aria-pressed="true"]`)?.focus();
  }

  drawView() {
    const draw = {
      graph: () => this.main.replaceChildren(this.graphBar(), this.graph.element),
      kernels: () => (this.kernels.draw(), this.main.replaceChildren(this.kernels.element)),
      roofline: () => this.main.replaceChildren(this.rooflinePage()),
      compare: () => (this.compared.draw(), this.main.replaceChildren(this.compared.element)),
    };
    draw[this.view]();
    this.graph.draw();
  }

  graphBar() {
    const families = [["product", "products"], ["element", "elementwise"], ["norm", "normalization"], ["pool", "reductions"], ["move", "data movement"]];
    const legend = this.graph.colouring === "kind"
      ? families.map(([name, text]) => el("span", { class: "key" }, el("span", { class: `dot ${name}` }), text))
      : el("span", { class: "key" }, "the redder, the more of the expected time");
    const marks = this.comparison ? [el("span", { class: "key" }, el("span", { class: "badge changed" }, "changed"), ` from ${this.comparison.b.label}`)] : [];
    return el("div", { class: "graph-bar" }, choices("Colour", [["kind", "Kind"], ["time", "Time"]], this.graph.colouring, (name) => {
      this.graph.colouring = name;
      this.drawView();
    }), el("div", { class: "legend" }, legend, marks));
  }

  rooflinePage() {
    const { compilation, times } = this;
    const limits = this.limitsOf(compilation);
    const measured = compilation.kernels.filter((one) => times.get(one)?.median).map((kernel) => ({ kernel, microseconds: times.get(kernel).median }));
    const { machine } = compilation;
    const missing = compilation.kernels.filter((one) => !one.operations || !one.bytes || !one.microseconds).length;
    return el("div", { class: "roofline-page" }, el("h2", {}, "Roofline"), el("p", {}, `Each circle is a kernel: to the right, the more operations it does for a byte of its arguments; up, the faster it is expected to be on '${compilation.target}' (${plural(machine.cores, "core")} of ${(machine.gflops).toFixed(0)} billion operations a second). Its area is its share of the time. Under a slope memory is the limit (the second slope is that of the nearest cache), under the flat part arithmetic.`),
      el("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Roofline" }, roofline({ compilation, chosen: this.details.kernel, open: (one) => this.openKernel(one), measured, limits: measured.length ? limits : null })),
      missing ? el("p", { class: "weak" }, `${plural(missing, "kernel")} that only move data, or whose extents are open, have no place here.`) : "");
  }

  // -- time --------------------------------------------------------------------------------------------------

  watch(act) {
    this.watchers = [...this.watchers.slice(-40), act];
  }

  changed() {
    this.watchers.forEach((act) => act());
  }

  /** What was found of the machine here that runs a compilation's kernels; null before. */
  limitsOf(compilation) {
    return this.limits.get(this.meter.engineOf(compilation)) ?? null;
  }

  /** Times kernels of one compilation. */
  async measure(kernels) {
    this.busy = true;
    const engine = kernels.length ? this.meter.engineOf(kernels[0].of) : "";
    const fault = (kernel, error) => this.times.set(kernel, { state: `failed: ${error.message}` });
    kernels.forEach((one) => this.times.set(one, { state: "waiting" }));
    this.changed();
    try {
      this.limits.set(engine, await this.meter.limits(engine));
    } catch (error) {
      kernels.forEach((one) => fault(one, error));
      kernels = [];
    }
    await this.meter.times(kernels, (kernel, time) => {
      this.times.set(kernel, time);
      this.changed();
    }).catch((error) => kernels.forEach((one) => fault(one, error)));
    this.busy = false;
    this.changed();
    announce(`${plural(kernels.length, "kernel")} measured`);
    if (this.view === "roofline") this.drawView();
  }

  onkey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      this.showPane("outline");
      this.outline.input.focus();
    } else if (event.key === "Escape" && event.target !== this.graph.canvas && (this.details.node !== null || this.details.kernel || this.details.pick)) this.clear();
  }
}

const started = performance.now();
readTable().then((table) => {
  globalThis.explorer = new App(table);
  document.documentElement.dataset.opened = String(Math.round(performance.now() - started));
}).catch((error) => {
  document.getElementById("app").replaceChildren(el("p", { class: "opening", role: "alert" }, `The page cannot be opened: ${error.message}`));
});
