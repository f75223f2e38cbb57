// What the jobs of an order found: a recommendation, a picture, a table, and the commands behind.

import { address } from "./api.mjs";
import { latencyChart } from "./chart.mjs";
import { el, menu, plural, table } from "./dom.mjs";
import { bytes, command, figure, given, milliseconds, nameOfJob, problem, section, times } from "./parts.mjs";

/** The parts of the page; none before the first result. */
export function* comparison({ jobs }) {
  const done = jobs.filter((job) => job.state === "done" && job.report);
  if (!done.length) return;
  const rows = done.flatMap(rowsOf).sort((one, other) => (one.median_ms ?? Infinity) - (other.median_ms ?? Infinity));
  const measured = rows.filter((row) => row.median_ms && !row.failed);
  const best = measured.filter(isRecommended)[0];
  yield recommendation(best, done);
  if (measured.length) yield new Figures(done, best, measured, rows.filter((row) => row.failed)).element;
  if (measured.length) yield commands(best, measured);
  yield remarks(done);
}

/** A row for each engine and number of threads. `base` is whom its ratio is told against: the original's own framework. */
function rowsOf(job) {
  const { engines, reference } = job.report;
  return engines.map((one) => {
    const beside = engines.filter((other) => other.threads === one.threads && other.median_ms);
    const base = beside.find((other) => other.name === reference?.engine) ?? beside.find((other) => other.name === "nnc");
    return { ...one, job, title: one.title ?? one.name, ratio: base && one.median_ms ? base.median_ms / one.median_ms : null, base };
  });
}

function isRecommended(row) {
  const { engine, options } = row.job.report.recommendation;
  return row.name === engine && row.threads === options?.threads;
}

function recommendation(best, done) {
  const job = best?.job ?? done[0];
  const said = job.report.recommendation;
  const part = section("Recommendation",
    best && el("p", { class: "verdict" }, el("strong", {}, `${best.title}, ${nameOfJob(job)}, ${plural(best.threads, "thread")}`), ": ", el("strong", {}, milliseconds(best.median_ms))),
    el("p", {}, job.report.not_measured_because ? ["There are no figures: ", given(job.report.not_measured_because), ". The package is complete."] : given(said.text)),
    job.report.library?.failed ? problem(`There is no library: ${job.report.library.failed}`) : null,
    el("div", { class: "buttons" }, el("a", { class: "button primary", href: address(`/jobs/${job.id}/package`), download: "" }, "Download the package"),
      el("a", { class: "button", href: address(`/jobs/${job.id}/report`), target: "_blank", rel: "noopener" }, "Full report")));
  part.classList.add("accent");
  return part;
}

/** The picture and the table, for the threads chosen. */
class Figures {
  constructor(done, best, measured, failed) {
    Object.assign(this, { several: done.length > 1, measured, failed, reference: done[0].report.reference });
    const threads = [...new Set(measured.map((row) => row.threads))].sort((one, other) => one - other);
    this.place = el("div", { class: "stack" });
    const first = best?.threads ?? threads.at(-1);
    const choice = threads.length > 1 && el("label", { class: "inline" }, el("span", {}, "Threads"), menu("Threads", threads.map((one) => [one, String(one)]), first, (value) => this.draw(Number(value))));
    this.element = section("Comparison", choice, this.place);
    this.draw(first);
  }

  draw(threads) {
    const rows = this.measured.filter((row) => row.threads === threads);
    const groups = new Map(rows.map((row) => [row.job, []]));
    for (const row of rows) groups.get(row.job).push(row);
    const bars = (own) => own.map((row) => ({
      label: row.title, kind: row.name === "nnc-tuned" ? "tuned" : row.name === "nnc" ? "own" : "peer",
      median: row.median_ms, spread: row.spread_ms ?? 0, ratio: row.base?.name === row.name ? null : row.ratio, base: row.base?.title,
    }));
    this.place.replaceChildren(
      el("h3", {}, "Time of a run"), el("p", { class: "hint" }, "The median; the thin line is the spread of the middle half of the runs. Shorter is faster."),
      latencyChart([...groups].map(([job, own]) => ({ title: nameOfJob(job), bars: bars(own) }))),
      el("h3", {}, "All figures"), this.table(rows), this.explanation(rows), this.failures() ?? "");
  }

  table(rows) {
    const energy = rows.some((row) => typeof row.energy_j === "number");
    const heads = ["Engine", "#Time", "#Spread", "#Ratio", "#Per second", "#Load", "#Memory", "#Size", ...(energy ? ["#Energy"] : []), "#Largest error"];
    return table(`All figures, ${plural(rows[0].threads, "thread")}`, heads, rows.map((row) => [
      [el("div", { class: "nowrap" }, row.title, row.version ? el("span", { class: "weak" }, ` ${row.version}`) : null), this.several ? el("div", { class: "weak nowrap" }, nameOfJob(row.job)) : null],
      milliseconds(row.median_ms), row.spread_ms ? `± ${figure(row.spread_ms, 2)} ms` : "–", row.ratio ? times(row.ratio) : "–", figure(row.throughput_per_s), milliseconds(row.load_ms),
      row.peak_bytes ? bytes(row.peak_bytes) : "–", row.size_bytes ? bytes(row.size_bytes) : "–", ...(energy ? [typeof row.energy_j === "number" ? `${figure(row.energy_j)} J` : "–"] : []), errorOf(row),
    ]));
  }

  failures() {
    if (!this.failed.length) return null;
    const seen = new Map(this.failed.map((row) => [`${row.title} ${row.failed}`, row]));
    return el("details", {}, el("summary", {}, `Not measured (${seen.size})`), el("ul", { class: "plain" }, [...seen.values()].map((row) => el("li", {}, el("strong", {}, row.title), ": ", given(row.failed)))));
  }

  explanation(rows) {
    const base = rows.find((row) => row.base)?.base;
    return el("p", { class: "weak" }, base ? `Ratio: how many times as fast as ${base.title} with the same numbers and threads, by the medians. ` : "",
      this.reference ? ["Largest error: the largest difference from what ", given(this.reference.title), " computes, as part of the largest value."] : null);
  }
}

function errorOf({ error_max_rel: relative, within_tolerance: within, accuracy_fault: fault }) {
  if (fault) return el("span", { class: "missing", title: fault }, "differs");
  if (relative === null || relative === undefined) return "–";
  const text = relative === 0 ? "0" : relative.toExponential(1);
  return within === false ? el("span", { class: "missing" }, `${text}, too far`) : text;
}

/** The commands behind the figures, the recommended one's first. */
function commands(best, measured) {
  const rows = [...new Set([best ?? measured[0], ...measured])];
  const one = (row) => {
    const title = `${row.title}, ${nameOfJob(row.job)}, ${plural(row.threads, "thread")}`;
    return el("div", { class: "repeat" }, el("h3", {}, title), command(row.command, `Copy the command: ${title}`));
  };
  return section("Repeat it", el("p", { class: "weak" }, "In the folder of the unpacked package, with the model in it under the name that a command has, each takes one figure again."),
    one(rows[0]), rows.length > 1 ? el("details", {}, el("summary", {}, `${rows.length - 1} more`), el("div", { class: "stack" }, rows.slice(1).map(one))) : null);
}

/** What `nnc why` says of each package, and what else there is to know. */
function remarks(done) {
  const told = done.filter((job) => job.report.why?.length || job.report.notes?.length);
  if (!told.length) return "";
  return section("Why", el("p", { class: "weak" }, "What bounds nnc's kernels, and what was not taken: the whole of it is on the model's page to look inside."),
    told.map((job) => el("details", {}, el("summary", {}, nameOfJob(job)), job.report.notes.map((note) => el("p", {}, given(note))), el("pre", { tabindex: 0, role: "group", "aria-label": `Why, ${nameOfJob(job)}` }, job.report.why.join("\n")))));
}
