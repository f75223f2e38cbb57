// What a model is to be made for: targets, precisions, threads, time, engines, inputs.

import { get, post } from "./api.mjs";
import { el, plural } from "./dom.mjs";
import { uploadRow } from "./models.mjs";
import { attempt, nameOfTarget, problem, seconds } from "./parts.mjs";
import { Upload } from "./upload.mjs";

const PRECISIONS = { f32: "As the model has them", f16: "Half the bytes", bf16: "Half the bytes, with the range of f32", int8: "A quarter of the bytes" };
const BUDGETS = [[0, "None", "nnc's own choices"], [60, "1 minute", "Finds most of it"], [300, "5 minutes", ""], [1800, "30 minutes", "For what ships"]];

/** The form; it opens the order's page when the service has taken it. */
export function orderForm(model, { user, go }) {
  const form = el("form", { class: "order-form" }, el("p", { class: "weak", role: "status" }, "Asking what can be done here"));
  Promise.all(["/targets", "/engines", "/precisions"].map(get))
    .then(([targets, all, precisions]) => [targets, all.filter((one) => runs(one, model)), precisions])
    .then(([targets, engines, precisions]) => new OrderForm(form, { model, user, go, targets, engines, precisions }).draw())
    .catch((error) => form.replaceChildren(problem(error.message)));
  return form;
}

class OrderForm {
  constructor(form, context) {
    Object.assign(this, context, { form, inputs: null });
    this.error = problem();
    this.summary = el("p", { class: "sum", role: "status" });
    this.button = el("button", { class: "primary", type: "submit" }, "Start");
    this.own = new OwnInputs(() => this.count());
    form.addEventListener("submit", (event) => this.send(event));
    form.addEventListener("change", () => this.count());
  }

  draw() {
    const most = this.user.quota?.seconds_per_job ?? Infinity;
    const budgets = BUDGETS.filter(([value]) => value <= most);
    this.form.replaceChildren(
      this.targetsPart(),
      group("Numbers", "Each is made and measured; how far results are from the original is measured, too.",
        options("precisions", "checkbox", this.precisions.map((value) => ({ value, title: value, about: PRECISIONS[value] ?? "" })), ["f32"])),
      group("Threads", "", el("label", { class: "inline" }, el("span", {}, "Numbers of threads to measure"),
        el("input", { name: "threads", value: "1", inputmode: "numeric", autocomplete: "off", size: 12, "aria-describedby": "threads-hint" })),
        el("p", { class: "hint", id: "threads-hint" }, "One or several, such as 1, 2, 4")),
      group("Search", "How long to look for faster schedules, for each package.", options("seconds", "radio", budgets.map(([value, title, about]) => ({ value, title, about })), [String(budgets.some(([value]) => value === 60) ? 60 : 0)])),
      group("Compare with", "All that runs this format and is installed here. Each runs in a process of its own, and they take turns.", options("engines", "checkbox", this.engines.map(engineRow), this.engines.filter((one) => one.available).map((one) => one.name))),
      group("Inputs", "What is measured and compared with the original.", this.own.element),
      el("div", { class: "send" }, this.summary, this.error, this.button));
    this.count();
  }

  targetsPart() {
    const here = this.targets.filter((one) => one.measured), away = this.targets.filter((one) => !one.measured);
    const first = here.slice(0, 1);
    return group("Hardware", "", options("targets", "checkbox", first.map(targetRow), first.map((one) => one.name)),
      moreTargets(`${plural(here.length - 1, "other target")} measured here`, "", here.slice(1)),
      moreTargets(`${plural(away.length, "target")} that can be built for, but not measured here`, "Their packages are complete, but have no figures: nothing here runs them.", away));
  }

  chosen(name) {
    return [...this.form.querySelectorAll(`input[name="${name}"]:checked`)].map((one) => one.value);
  }

  count() {
    const packages = this.chosen("targets").length * this.chosen("precisions").length;
    const budget = Number(this.chosen("seconds")[0] ?? 0);
    this.summary.textContent = packages ? `${plural(packages, "package")}${budget ? `, up to ${seconds(packages * budget)} of search` : ""}` : "";
  }

  fault({ targets, precisions, threads, engines }) {
    if (!targets.length) return "Choose at least one kind of hardware.";
    if (!precisions.length) return "Choose at least one kind of numbers.";
    if (!threads.length || threads.some((one) => !Number.isInteger(one) || one < 1)) return "Threads are whole numbers from 1, separated by commas.";
    if (!engines.length) return "Choose at least one engine.";
    return this.own.fault();
  }

  async send(event) {
    event.preventDefault();
    const threads = this.form.elements.threads.value.split(/[\s,;]+/).filter(Boolean).map(Number);
    const order = { targets: this.chosen("targets"), precisions: this.chosen("precisions"), threads: [...new Set(threads)], seconds: Number(this.chosen("seconds")[0] ?? 0), engines: this.chosen("engines") };
    const fault = this.fault(order);
    if (fault) return this.error.say(fault);
    if (this.own.upload) order.inputs = this.own.upload;
    await attempt(this.button, this.error, async () => {
      const { id } = await post(`/models/${this.model.id}/orders`, order);
      await this.go(`/orders/${id}`);
    });
  }
}

/** Targets that open at a click, with a search among them. */
function moreTargets(title, about, targets) {
  if (!targets.length) return null;
  const list = options("targets", "checkbox", targets.map(targetRow), []);
  const none = el("p", { class: "weak", hidden: true }, "No target has this in its name or description.");
  const search = el("input", { type: "search", "aria-label": `Search ${title}`, placeholder: "Search, such as cortex or wasm", oninput: () => {
    const word = search.value.trim().toLowerCase();
    for (const row of list.children) row.hidden = !row.textContent.toLowerCase().includes(word);
    none.hidden = [...list.children].some((row) => !row.hidden);
  }, onkeydown: (event) => event.key === "Enter" && event.preventDefault() });
  return el("details", { class: "away" }, el("summary", {}, title), about && el("p", { class: "weak" }, about), search, none, list);
}

function targetRow({ name, about, measured, why_not: why }) {
  return { value: name, title: nameOfTarget(name), about: about.replace(/^this machine: /, ""), remark: measured ? "" : `Not measured here: ${why ?? "nothing here runs it"}` };
}

/** Whether an engine runs models of this one's format. */
function runs({ formats }, { look }) {
  return !formats.length || !look?.format || formats.includes(look.format);
}

function engineRow({ name, about, available, why_not: why }) {
  return { value: name, title: about || name, disabled: !available, remark: available ? "" : why ?? "Not installed here" };
}

function group(title, about, ...children) {
  return el("fieldset", {}, el("legend", {}, title), about && el("p", { class: "hint" }, about), children);
}

/** Boxes to tick, or of which one is taken, each a card of its own. */
function options(name, type, rows, chosen) {
  return el("div", { class: "options" }, rows.map(({ value, title, about, remark, disabled }) => el("label", { class: "option" },
    el("input", { type, name, value, checked: chosen.includes(String(value)), disabled }),
    el("span", { class: "text" }, el("span", { class: "title" }, title), about ? el("span", { class: "weak" }, about) : null, remark ? el("span", { class: "remark" }, remark) : null))));
}

/** Random inputs, or a file of the user's, which is uploaded as soon as it is chosen. */
class OwnInputs {
  constructor(changed) {
    Object.assign(this, { changed, upload: null, running: null });
    this.rows = el("ul", { class: "uploads" });
    this.said = el("p", { class: "hint", role: "status" }, "An .npz file of NumPy with an array for each input, by its name.");
    this.file = el("input", { type: "file", accept: ".npz", "aria-label": "File of inputs (.npz)", onchange: () => this.start() });
    this.place = el("div", { class: "stack", hidden: true }, this.file, this.said, this.rows);
    const pick = (own) => () => {
      this.place.hidden = !own;
      this.wanted = own;
    };
    this.wanted = false;
    const choice = (value, title, about, own) => el("label", { class: "option" }, el("input", { type: "radio", name: "inputs", value, checked: !own, onchange: pick(own) }),
      el("span", { class: "text" }, el("span", { class: "title" }, title), el("span", { class: "weak" }, about)));
    this.element = el("div", { class: "stack" }, el("div", { class: "options" }, choice("random", "Random inputs", "The same each time, by a seed", false), choice("own", "My own", "Speed and accuracy on real data", true)), this.place);
  }

  start() {
    const [file] = this.file.files;
    if (!file) return;
    this.running?.discard();
    this.upload = null;
    this.running = new Upload(file, { purpose: "inputs" });
    this.rows.replaceChildren(uploadRow(this.running, (done) => {
      this.upload = done.answer.inputs;
      this.said.textContent = `${file.name} is uploaded and will be used.`;
      this.changed();
    }));
    this.running.run();
  }

  fault() {
    if (!this.wanted) {
      this.upload = null;
      return "";
    }
    return this.upload ? "" : "Choose a file of inputs and wait for its upload, or take random inputs.";
  }
}
