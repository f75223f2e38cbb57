// Why a kernel is as it is: what bounds it, and what else there was to choose.

import { amount, duration, el, percent, plural, table } from "./dom.mjs";

/** The explanation of a kernel, by the words of `nnc why`. */
export function reasons(kernel, words) {
  return el("div", { class: "reasons" }, facts(kernel, words), bars(kernel, words), kernel.on_host && el("p", { class: "note" }, `On the host, by ${kernel.target}: ${kernel.on_host}`), kernel.choices.map((one) => choice(one, words)));
}

function facts(kernel, words) {
  const roof = kernel.roofline;
  const rows = [
    ["Expected", kernel.microseconds === null ? "no model says" : `${duration(kernel.microseconds)} a call, ${plural(kernel.calls, "call")}`],
    ["Bound by", words[kernel.bound] ?? (kernel.bound || "unknown")],
    ["Roofline", roof ? `at least ${duration(roof.microseconds)} by its ${roof.by} on ${plural(kernel.cores, "core")}` : "depends on extents that only a run tells"],
    ["Of roofline", roof && kernel.microseconds ? percent(roof.microseconds / kernel.microseconds) : "unknown"],
    ["Work", `${amount(kernel.operations)} operations, ${amount(kernel.bytes, "B")} of arguments`],
    ["Share of the model", percent(kernel.total / (kernel.of.microseconds || 1))],
  ];
  return el("dl", { class: "facts" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function bars(kernel, words) {
  const terms = Object.entries(kernel.terms).sort((a, b) => b[1] - a[1]);
  const whole = terms.reduce((sum, [, time]) => sum + time, 0);
  if (!whole) return "";
  return el("div", { class: "terms" }, el("h3", {}, "Where a call's time is expected to go"), el("ul", {}, terms.map(([name, time]) => {
    const bar = el("span", { class: "bar" });
    bar.style.width = `${(100 * time) / whole}%`;
    return el("li", {}, el("span", { class: "term" }, words[name] ?? name), el("span", { class: "track" }, bar), el("span", { class: "number" }, duration(time)));
  })));
}

function choice({ kind, taken, because, options }, words) {
  const rows = options.map((one) => ({
    mark: one.name === taken ? "taken" : "",
    cells: [one.name === taken ? el("b", {}, `✓ ${one.name}`) : one.name, one.microseconds === null ? "" : duration(one.microseconds), words[one.bound] ?? one.bound, one.name === taken ? "taken" : one.why_not, one.detail],
  }));
  return el("div", { class: "choice-table" }, el("h3", {}, `${kind[0].toUpperCase()}${kind.slice(1)}`), because && el("p", { class: "weak" }, because), table(`Alternatives: ${kind}`, ["Alternative", "#Time", "Bound by", "Why, why not", "Details"], rows));
}
