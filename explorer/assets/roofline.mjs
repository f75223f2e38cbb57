// Where kernels stand between what arithmetic and what memory allow.

import { duration, svg } from "./dom.mjs";

const WIDTH = 900, HEIGHT = 420, LEFT = 64, RIGHT = 20, TOP = 16, BOTTOM = 46;

/**
 * The drawing: kernels by operations for a byte and by speed, under the lines of a machine.
 * `measured` are { kernel, microseconds }, `limits` the lines of the reader's machine, if known.
 */
export function roofline({ compilation, chosen, open, measured = [], limits = null }) {
  const { machine, kernels } = compilation;
  const known = kernels.filter((one) => one.operations && one.bytes && one.microseconds);
  const points = [
    ...known.map((kernel) => point(kernel, kernel.microseconds, "expected")),
    ...measured.filter(({ kernel }) => kernel.operations && kernel.bytes).map(({ kernel, microseconds }) => point(kernel, microseconds, "measured")),
  ];
  const lines = [rooftop(machine.gflops * machine.cores, machine.levels.at(-1)[1] * machine.cores, machine.levels[0][1] * machine.cores, "expected")];
  if (limits) lines.push(rooftop(limits.gflops, limits.levels.at(-1)[1], limits.levels[0][1], "measured"));
  const xs = points.map((one) => one.x), ys = [...points.map((one) => one.y), ...lines.map((one) => one.peak)];
  const range = { x0: Math.min(0.05, ...xs) / 1.5, x1: Math.max(100, ...xs) * 1.5, y0: Math.min(1, ...ys) / 1.5, y1: Math.max(...ys) * 2 };
  const scale = {
    x: (value) => LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(value / range.x0)) / Math.log(range.x1 / range.x0),
    y: (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * Math.log(value / range.y0)) / Math.log(range.y1 / range.y0),
  };
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "roofline", role: "group", "aria-label": `Roofline of ${compilation.label}` },
    axes(range, scale), lines.map((line) => lineOf(line, range, scale)), points.sort((a, b) => b.share - a.share).map((one) => dot(one, scale, chosen, open)));
}

function point(kernel, microseconds, kind) {
  const share = kernel.total / (kernel.of.microseconds || 1);
  return { kernel, kind, share, microseconds, x: kernel.operations / kernel.bytes, y: kernel.operations / microseconds / 1e3 };
}

const rooftop = (peak, memory, near, kind) => ({ peak, memory, near, kind });

function axes({ x0, x1, y0, y1 }, scale) {
  const made = [];
  const powers = (low, high) => Array.from({ length: Math.floor(Math.log10(high)) - Math.ceil(Math.log10(low)) + 1 }, (_, i) => 10 ** (Math.ceil(Math.log10(low)) + i));
  const label = (value) => (value >= 1 ? value.toLocaleString("en") : String(value));
  for (const value of powers(x0, x1)) {
    const x = scale.x(value);
    made.push(svg("line", { class: "grid", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }), svg("text", { x, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, label(value)));
  }
  for (const value of powers(y0, y1)) {
    const y = scale.y(value);
    made.push(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }), svg("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, label(value)));
  }
  made.push(
    svg("text", { class: "title", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, "operations for a byte of its arguments"),
    svg("text", { class: "title", transform: `translate(14 ${HEIGHT / 2}) rotate(-90)`, "text-anchor": "middle" }, "10⁹ operations a second"));
  return made;
}

function lineOf({ peak, memory, near, kind }, { x0, x1, y0 }, scale) {
  const path = (bandwidth) => {
    const start = Math.max(x0, y0 / bandwidth);
    const ridge = Math.min(x1, Math.max(start, peak / bandwidth));
    return `M${scale.x(start)} ${scale.y(Math.min(peak, bandwidth * start))}L${scale.x(ridge)} ${scale.y(Math.min(peak, bandwidth * ridge))}L${scale.x(x1)} ${scale.y(peak)}`;
  };
  return svg("g", { class: `roof ${kind}` }, svg("path", { d: path(near), class: "near" }), svg("path", { d: path(memory) }));
}

function dot({ kernel, kind, share, microseconds, x, y }, scale, chosen, open) {
  const words = `${kernel.kernel}: ${duration(microseconds)} a call ${kind}, ${y.toPrecision(3)} billion operations a second`;
  const act = () => open(kernel);
  return svg("circle", {
    class: `${kind} ${kernel === chosen ? "chosen" : ""}`, cx: scale.x(x), cy: scale.y(y), r: 4 + 22 * Math.sqrt(share), tabindex: 0, role: "button", "aria-label": words,
    onclick: act, onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), act()),
  }, svg("title", {}, words));
}
