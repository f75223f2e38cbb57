// An order: its jobs as they go, and what they found.

import { address, follow, get, post, remove } from "./api.mjs";
import { comparison } from "./comparison.mjs";
import { announce, el, plural } from "./dom.mjs";
import { ask, attempt, chip, given, nameOfJob, problem, progressBar, repeat, section, when } from "./parts.mjs";

const OPEN = new Set(["queued", "running"]);
const SPOKEN = { running: "has started", done: "is done", failed: "has failed", cancelled: "is cancelled" };

/** The page. */
export async function orderPage({ go }, id) {
  const order = await get(`/orders/${id}`);
  const model = await get(`/models/${order.model}`);
  const view = new OrderView(order, model, go);
  return { title: `Packages of ${model.name}`, element: view.element, leave: () => view.stop() };
}

class OrderView {
  constructor(order, model, go) {
    Object.assign(this, { order, model, go, rows: new Map() });
    this.list = el("ul", { class: "jobs", "aria-label": "Packages" });
    this.lost = el("p", { class: "weak", role: "status" });
    this.result = el("div", { class: "parts" });
    this.progress = section("Packages", this.list, this.lost);
    this.count = el("p", { class: "weak facts" });
    this.element = el("div", {},
      el("nav", { class: "crumbs", "aria-label": "Where this is" }, el("a", { href: "/models" }, "Models"), el("a", { href: `/models/${model.id}` }, given(model.name))),
      el("div", { class: "headline" }, el("h1", {}, "Packages of ", given(model.name))), this.count,
      el("div", { class: "parts" }, this.progress, this.result, this.deletion()));
    this.unfollow = () => {};
    this.unrepeat = () => {};
    this.draw();
    if (this.isOpen()) this.watch();
  }

  isOpen() {
    return this.order.jobs.some((job) => OPEN.has(job.state));
  }

  stop() {
    this.unfollow();
    this.unrepeat();
  }

  /** By events, and by asking where the events are lost for good. */
  watch() {
    this.unfollow = follow(`/orders/${this.order.id}/events`, (event) => this.receive(event), (closed) => {
      if (!this.isOpen()) return this.stop();
      this.lost.textContent = "The connection is lost; trying again.";
      if (!closed) return;
      this.stop();
      this.unrepeat = repeat(2000, async () => {
        this.take(await get(`/orders/${this.order.id}`));
        return this.isOpen();
      });
    });
  }

  receive(event) {
    this.lost.textContent = "";
    this.take({ ...this.order, jobs: this.order.jobs.map((old) => (old.id === event.id ? { ...old, ...event, report: event.report ?? old.report } : old)) });
  }

  take(order) {
    const before = new Map(this.order.jobs.map((job) => [job.id, job.state]));
    this.order = order;
    const changed = order.jobs.filter((job) => job.state !== before.get(job.id));
    for (const job of changed) announce(`${nameOfJob(job)} ${SPOKEN[job.state] ?? job.state}.`);
    this.draw();
    if (changed.some((job) => !OPEN.has(job.state))) this.refresh();
    if (!this.isOpen()) this.stop();
  }

  async refresh() {
    this.order = await get(`/orders/${this.order.id}`);
    this.draw();
  }

  draw() {
    const { jobs, created } = this.order;
    const done = jobs.filter((job) => !OPEN.has(job.state)).length;
    this.count.replaceChildren(`${done} of ${plural(jobs.length, "package")} finished · ordered `, when(created));
    for (const job of jobs) {
      if (!this.rows.has(job.id)) {
        this.rows.set(job.id, new JobRow(this));
        this.list.append(this.rows.get(job.id).element);
      }
      this.rows.get(job.id).draw(job);
    }
    if (done === jobs.length && this.result.compareDocumentPosition(this.progress) & Node.DOCUMENT_POSITION_PRECEDING && !this.progress.contains(document.activeElement)) this.result.after(this.progress);
    const drawn = jobs.filter((job) => job.state === "done" && job.report).map((job) => job.id).join();
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.result.replaceChildren(...comparison(this.order));
  }

  deletion() {
    const error = problem();
    const button = el("button", { class: "danger", onclick: async () => {
      const sure = await ask({ title: "Delete these packages?", text: "The packages, their figures and reports are deleted; what still waits or runs is cancelled. The model stays.", verb: "Delete the packages" });
      if (sure) await attempt(button, error, async () => {
        this.stop();
        await remove(`/orders/${this.order.id}`);
        await this.go(`/models/${this.model.id}`);
      });
    } }, "Delete these packages");
    return el("div", { class: "ending" }, button, error);
  }
}

/** One job; its elements stay, so that the keyboard's focus does. */
class JobRow {
  constructor(view) {
    this.view = view;
    this.chip = el("span", {});
    this.how = el("p", { class: "weak" });
    this.bar = progressBar("Progress", null);
    this.error = problem();
    this.title = el("span", { class: "title" });
    this.links = el("div", { class: "links" });
    this.cancel = el("button", { onclick: () => this.stop() }, "Cancel");
    this.element = el("li", { class: "job" }, el("div", { class: "what" }, this.title, this.bar, this.how, this.links), this.chip, this.cancel, this.error);
  }

  draw(job) {
    this.job = job;
    const open = OPEN.has(job.state), name = nameOfJob(job);
    this.title.textContent = name;
    this.bar.setAttribute("aria-label", `Progress of ${name}`);
    this.cancel.setAttribute("aria-label", `Cancel ${name}`);
    this.cancel.hidden = !open;
    this.bar.hidden = job.state !== "running";
    this.chip.replaceChildren(chip(job.state));
    const far = job.progress?.done;
    if (far === null || far === undefined) this.bar.removeAttribute("value");
    else this.bar.value = far;
    this.how.textContent = howFar(job);
    if (job.state === "failed") this.error.say(job.error ?? "It failed without a reason.");
    const links = open ? "" : job.state;
    if (links === this.drawn) return;
    this.drawn = links;
    this.links.replaceChildren(...linksOf(job));
  }

  stop() {
    return attempt(this.cancel, this.error, async () => {
      const job = await post(`/jobs/${this.job.id}/cancel`);
      this.view.receive(job);
    });
  }
}

function howFar({ state, place, progress }) {
  if (state === "queued") return place === 1 ? "Next in the queue" : place ? `Place ${place} in the queue` : "In the queue";
  if (state === "running") return progress?.text ?? progress?.step ?? "Starting";
  return "";
}

function linksOf({ id, state }) {
  if (OPEN.has(state) || state === "cancelled") return [];
  const link = (what, text, options) => el("a", { href: address(`/jobs/${id}/${what}`), ...options }, text);
  const log = link("log", "Log", { target: "_blank", rel: "noopener" });
  if (state !== "done") return [log];
  return [link("package", "Download", { download: "" }), link("report", "Full report", { target: "_blank", rel: "noopener" }), log];
}
