// A kernel's schedule as text that may be edited, and what became of the edited ones: a server tries them.

import { announce, duration, el, plural, table } from "./dom.mjs";

const PATIENCE = 1000; // milliseconds between questions about a job
const FILE = "edited.mlir";

/** What the server that shows the page does; `address` is that of the model in its interface. */
export class ModelServer {
  constructor(address) {
    this.address = address;
    this.jobs = `${address.split("/models/")[0]}/jobs`;
  }

  /** Where the page says so: a server puts that into what it sends. */
  static here() {
    const address = document.querySelector('meta[name="nnc-server"]')?.content;
    return address ? new ModelServer(address) : null;
  }

  async ask(address, body) {
    const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "X-NNC": "1" } };
    const answer = await fetch(address, { credentials: "same-origin", ...options });
    const found = await answer.json().catch(() => null);
    if (!answer.ok) throw new Error(found?.error ?? `the server answers with status ${answer.status}`);
    return found;
  }

  /** What became of a schedule; `tell` hears how far it is, `stop` is asked whether to give up. */
  async experiment(asked, tell, stop) {
    let job = await this.ask(`${this.address}/experiments`, asked);
    while (job.state === "queued" || job.state === "running") {
      tell(job.state === "queued" ? (job.place > 1 ? `${job.place}. in the queue` : "next in the queue") : job.progress?.text ?? "running");
      await new Promise((resolve) => setTimeout(resolve, PATIENCE));
      if (stop()) {
        await this.ask(`${this.jobs}/${job.id}/cancel`, {}).catch(() => null);
        throw new Error("stopped");
      }
      job = await this.ask(`${this.jobs}/${job.id}`);
    }
    if (job.state !== "done" || !job.summary) throw new Error(job.error ?? `the job ${job.state === "done" ? "says nothing" : job.state}`);
    return job.summary;
  }
}

/** The text of a kernel's schedule as it was compiled, without its indentation; empty where it has none. */
export function scheduleText(texts, name) {
  const stage = texts.stages[texts.at("schedule")];
  for (const [start, end] of stage?.ofKernel(name) ?? []) {
    const lines = stage.lines.slice(start, end);
    const first = lines.findIndex((line) => /^\s*schedule\.for\b/.test(line));
    if (first < 0) continue;
    const [indent] = /^\s*/.exec(lines[first]);
    const last = lines.indexOf(`${indent}}`, first);
    return lines.slice(first, last < 0 ? undefined : last + 1).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join("\n") + "\n";
  }
  return "";
}

/** What a page keeps of a kernel's schedule: its text now, and the attempts, the last one first. */
class Draft {
  constructor(text) {
    Object.assign(this, { compiled: text, text, attempts: [], state: "", stopped: false });
  }
}

export class Editors {
  constructor(app) {
    this.app = app;
    this.server = ModelServer.here();
    this.drafts = new Map();
  }

  /** The editor of a kernel. */
  view(kernel, texts) {
    if (!this.drafts.has(kernel)) this.drafts.set(kernel, new Draft(scheduleText(texts, kernel.kernel)));
    const draft = this.drafts.get(kernel);
    return draft.compiled ? new Editor(this, kernel, draft).element : el("p", { class: "note" }, "This kernel has no schedule: nothing of it is loops.");
  }
}

class Editor {
  constructor(editors, kernel, draft) {
    Object.assign(this, { server: editors.server, app: editors.app, kernel, draft });
    this.lines = el("div", { class: "edit-lines", "aria-hidden": "true" });
    this.area = el("textarea", {
      class: "edit-text", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": `Schedule of ${kernel.kernel}`, "aria-describedby": "edit-state",
      oninput: () => this.changed(), onscroll: () => (this.lines.scrollTop = this.area.scrollTop),
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.run();
        if (event.key !== "Escape") event.stopPropagation();
      },
    });
    this.area.value = draft.text;
    this.state = el("div", { id: "edit-state", class: "edit-state", role: "status" });
    this.buttons = el("div", { class: "bar-line" });
    this.list = el("div", { "aria-live": "polite" });
    this.element = el("div", { class: "editing" }, el("p", {}, "The schedule says how the loops are made. Edit it, and see what it takes."),
      el("div", { class: "edit-box" }, this.lines, this.area), this.buttons, this.state, this.list);
    this.draw();
    draft.redraw = () => this.element.isConnected && this.draw();
  }

  changed() {
    this.draft.text = this.area.value;
    this.draw();
  }

  draw() {
    const { draft } = this;
    const attempt = draft.attempts.find((one) => one.text === draft.text);
    const fault = attempt?.result?.legal === false ? attempt.result.fault : null;
    const count = draft.text.split("\n").length;
    this.lines.replaceChildren(...Array.from({ length: count }, (_, i) => el("div", { class: fault?.line === i + 1 && "at-fault" }, String(i + 1))));
    this.lines.scrollTop = this.area.scrollTop;
    this.area.setAttribute("aria-invalid", String(Boolean(fault)));
    this.buttons.replaceChildren(...this.actions());
    this.state.replaceChildren(...(draft.state ? [draft.state] : fault ? this.faultLine(fault) : this.server ? [] : this.command()));
    this.list.replaceChildren(draft.attempts.length ? this.attempts() : "");
  }

  actions() {
    const { draft } = this;
    const back = el("button", { type: "button", disabled: draft.text === draft.compiled, onclick: () => this.put(draft.compiled) }, "Back to the compiled one");
    if (!this.server) return [el("button", { type: "button", class: "primary", onclick: () => this.save() }, `Save as ${FILE}`), back];
    const run = draft.state
      ? el("button", { type: "button", onclick: () => (draft.stopped = true) }, "Stop")
      : el("button", { type: "button", class: "primary", onclick: () => this.run() }, "▶ Check and measure it");
    return [run, back, el("span", { class: "weak" }, "Ctrl+Enter")];
  }

  /** What to do where no server is. */
  command() {
    const { target, asked } = this.kernel.of;
    const words = ["nnc", "try", this.kernel.of.graph.name, "--schedule", FILE, "--kernel", this.kernel.kernel, "--target", asked ?? target];
    const quoted = words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
    return ["This page is a file: save the schedule, and have nnc check and measure it.", el("pre", { class: "command", tabindex: 0 }, quoted.join(" "))];
  }

  save() {
    const url = URL.createObjectURL(new Blob([this.draft.text], { type: "text/plain" }));
    el("a", { href: url, download: FILE }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  faultLine({ line, message }) {
    if (!line) return [message];
    return [el("button", { type: "button", class: "link", onclick: () => this.goTo(line) }, `Line ${line}`), `: ${message}`];
  }

  goTo(line) {
    const lines = this.draft.text.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  }

  put(text) {
    this.area.value = text;
    this.changed();
    this.area.focus();
  }

  async run() {
    const { draft, kernel, server } = this;
    if (!server || draft.state) return;
    const { text } = draft;
    const say = (state) => {
      draft.state = state;
      draft.redraw();
    };
    draft.stopped = false;
    say("asking the server");
    const attempt = { text };
    try {
      attempt.result = await server.experiment({ target: kernel.of.asked ?? kernel.of.target, kernel: kernel.kernel, schedule: text }, say, () => draft.stopped);
    } catch (error) {
      attempt.failure = error.message;
    }
    draft.attempts.unshift(attempt);
    say("");
    announce(verdict(attempt));
  }

  attempts() {
    const { attempts, text } = this.draft;
    const rows = attempts.map((one, i) => {
      const number = attempts.length - i;
      const time = one.result?.time, whole = one.result?.whole;
      return { mark: one.text === text ? "chosen" : "", cells: [
        el("button", { type: "button", class: "link", "aria-label": `Edit attempt ${number} again`, onclick: () => this.put(one.text) }, String(number)), verdict(one),
        time ? duration(time.edited_us) : "", time ? duration(time.default_us) : "", time ? ratio(time) : "", whole ? ratio(whole) : ""] };
    });
    const measured = attempts.find((one) => one.result?.time)?.result;
    return el("div", {}, el("h3", {}, plural(attempts.length, "attempt")), table("Attempts", ["#", "What it is", "#Edited", "#By default", "#Ratio", "#Of the model"], rows),
      measured ? el("p", { class: "weak" }, `Times of ${plural(measured.calls || 1, "call")} in a run of the model for '${measured.target}', ${plural(measured.threads, "thread")}, in turns with the default's; below 1 is faster, in parentheses where the ratio lies.`) : "");
  }
}

const ratio = (time) => `${time.ratio.toFixed(3)} (${time.ratio_low.toFixed(3)} to ${time.ratio_high.toFixed(3)})`;

/** One line about an attempt. */
function verdict({ result, failure }) {
  if (failure) return `failed: ${failure}`;
  const { legal, right, fault, time, errors } = result;
  if (!legal) return `not legal: ${fault.line ? `line ${fault.line}: ` : ""}${fault.message}`;
  if (right === null) return `legal; not measured: ${fault?.message ?? "unknown"}`;
  if (!right) return `wrong: ${fault?.message ?? "unknown"}`;
  const speed = !time ? "" : time.ratio_high < 1 ? ", faster" : time.ratio_low > 1 ? ", slower" : ", as fast as far as can be told";
  const off = errors?.edited !== null && errors ? `, error ${errors.edited.toPrecision(2)} (the default's ${errors.default?.toPrecision(2) ?? "unknown"})` : "";
  return `right${speed}${off}`;
}
