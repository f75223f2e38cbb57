// Times of engines as bars with their spread, a group for each target and precision.

import { el, svg } from "./dom.mjs";
import { figure, milliseconds, times } from "./parts.mjs";

const ROW = 30, TITLE = 36, AXIS = 30, NARROW = 520;

/** A picture as wide as its place: groups are {title, bars: [{label, kind, median, spread, ratio, base}]}, in ms. */
export function latencyChart(groups) {
  const place = el("figure", { class: "chart" });
  let drawn = 0;
  const draw = () => {
    const width = Math.floor(place.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    place.replaceChildren(picture(groups, width));
  };
  new ResizeObserver(draw).observe(place);
  return place;
}

function picture(groups, width) {
  const narrow = width < NARROW;
  const left = narrow ? 0 : 130, right = 118, row = narrow ? ROW + 16 : ROW;
  const bars = groups.flatMap((group) => group.bars);
  const most = Math.max(...bars.map((bar) => bar.median + bar.spread));
  const x = (value) => left + ((width - left - right) * value) / most;
  const height = groups.reduce((sum, group) => sum + TITLE + group.bars.length * row, AXIS);
  const drawn = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spoken(groups) }, axis(most, x, height));
  let y = 0;
  for (const { title, bars: own } of groups) {
    drawn.append(svg("text", { x: 0, y: y + 24, class: "group" }, title));
    y += TITLE;
    for (const bar of own) {
      drawn.append(barOf(bar, x, y, narrow));
      y += row;
    }
  }
  return drawn;
}

function barOf({ label, kind, median, spread, ratio }, x, y, narrow) {
  const top = narrow ? y + 18 : y + 4, middle = top + 10;
  const low = x(Math.max(0, median - spread)), high = x(median + spread);
  const text = milliseconds(median) + (ratio ? `, ${times(ratio)}` : "");
  return svg("g", { class: `bar ${kind}` }, svg("title", {}, `${label}: ${text}`),
    narrow ? svg("text", { x: 0, y: y + 13 }, label) : svg("text", { x: x(0) - 10, y: middle + 4.5, "text-anchor": "end" }, label),
    svg("rect", { x: x(0), y: top, width: Math.max(1, x(median) - x(0)), height: 20, rx: 3 }),
    svg("path", { class: "spread", d: `M${low} ${middle}H${high}M${low} ${middle - 4}v8M${high} ${middle - 4}v8` }),
    svg("text", { x: high + 8, y: middle + 4.5, class: "value" }, milliseconds(median), ratio ? svg("tspan", { class: "ratio", dx: 8 }, times(ratio)) : null));
}

/** Lines at round values. */
function axis(most, x, height) {
  const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const lines = [];
  for (let value = 0; value <= most; value += step)
    lines.push(svg("line", { class: "grid", x1: x(value), x2: x(value), y1: TITLE, y2: height - AXIS + 4 }),
      svg("text", { class: "tick", x: x(value), y: height - 10, "text-anchor": value ? "middle" : "start" }, value ? figure(value) : "0 ms"));
  return svg("g", { "aria-hidden": "true" }, lines);
}

function spoken(groups) {
  return groups.map(({ title, bars }) => `${title}: ${bars.map((bar) => `${bar.label} ${milliseconds(bar.median)}${bar.ratio ? `, ${bar.ratio.toFixed(2)} times as fast as ${bar.base}` : ""}`).join("; ")}`).join(". ");
}
