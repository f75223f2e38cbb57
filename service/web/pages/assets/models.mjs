// The models of a user, and bringing more.

import { get, remove } from "./api.mjs";
import { announce, el, plural } from "./dom.mjs";
import { attempt, bytes, chip, given, problem, progressBar, repeat, seconds, section, when } from "./parts.mjs";
import { Upload, unfinished } from "./upload.mjs";

const formats = () => document.body.dataset.formats;

/** The page. */
export async function modelsPage() {
  const [models, lost] = await Promise.all([get("/models"), unfinished("model")]);
  const list = el("ul", { class: "models", "aria-label": "Your models" });
  const shelf = section("Your models", list);
  let stop = () => {};

  const draw = (found) => {
    const rows = found.length ? found.map((model) => row(model, refresh)) : [empty()];
    list.replaceChildren(...rows);
  };
  const refresh = async () => {
    const found = await get("/models");
    draw(found);
    stop();
    if (found.some((model) => model.state === "looking")) stop = repeat(1500, watch);
  };
  const watch = async () => {
    const found = await get("/models");
    draw(found);
    return found.some((model) => model.state === "looking");
  };
  draw(models);
  if (models.some((model) => model.state === "looking")) stop = repeat(1500, watch);

  const uploads = new Uploads(lost, refresh);
  return { title: "Models", leave: () => stop(), element: el("div", {}, el("h1", {}, "Models"), uploads.element, shelf) };
}

function empty() {
  return el("li", { class: "empty" }, el("p", {}, "No models yet."), el("p", { class: "weak" }, "Drop a file above: nnc looks at it, and then you choose what it is made for."));
}

function row(model, refresh) {
  const error = problem();
  const refused = model.state === "refused";
  const away = el("button", { class: "quiet", "aria-label": `Remove ${model.name}`, onclick: () => attempt(away, error, async () => {
    await remove(`/models/${model.id}`);
    announce(`${model.name} is removed.`);
    await refresh();
  }) }, "Remove");
  return el("li", { class: "model" },
    el("div", { class: "what" }, el("a", { class: "title", href: `/models/${model.id}` }, given(model.name)),
      el("p", { class: "weak" }, bytes(model.bytes), " · ", when(model.created)),
    ), chip(model.state), refused && away, refused && el("p", { class: "reason" }, given(model.error ?? "")), error);
}

/** The place to drop files on, and the files on their way. */
class Uploads {
  constructor(lost, finished) {
    Object.assign(this, { lost, finished });
    this.chooser = el("input", { type: "file", multiple: true, class: "hidden", tabindex: -1, "aria-hidden": "true", onchange: () => {
      this.add(this.chooser.files);
      this.chooser.value = "";
    } });
    this.rows = el("ul", { class: "uploads", "aria-label": "Uploads" });
    this.zone = el("div", { class: "zone", ondragover: (event) => this.over(event, true), ondragleave: (event) => this.over(event, false), ondrop: (event) => this.drop(event) },
      el("p", { class: "call" }, "Drop a model here"),
      el("button", { class: "primary", onclick: () => this.chooser.click() }, "Choose files"),
      el("p", { class: "hint" }, formats(), "; a model of several files as a .zip"), this.chooser);
    this.element = el("div", {}, this.zone, this.rows);
    for (const upload of lost) this.rows.append(uploadRow(upload, finished));
  }

  over(event, is) {
    event.preventDefault();
    this.zone.classList.toggle("over", is);
  }

  drop(event) {
    this.over(event, false);
    this.add(event.dataTransfer.files);
  }

  add(files) {
    for (const file of files) {
      const before = this.lost.find((one) => one.state === "lost" && !one.differs(file));
      if (before) {
        before.take(file);
        continue;
      }
      const upload = new Upload(file, { purpose: "model" });
      this.rows.append(uploadRow(upload, this.finished));
      upload.run();
    }
    if (files.length) announce(`${plural(files.length, "upload")} started.`);
  }
}

/** One upload: how far it is, and what can be done about it. */
export function uploadRow(upload, finished) {
  const row = el("li", { class: "upload" });
  const again = el("input", { type: "file", class: "hidden", tabindex: -1, "aria-hidden": "true", onchange: () => again.files[0] && upload.take(again.files[0]) });
  const error = problem();
  const bar = progressBar(`Upload of ${upload.name}`, 0);
  const how = el("p", { class: "weak" });
  const buttons = el("div", { class: "buttons" });
  const button = (text, act) => el("button", { "aria-label": `${text}: ${upload.name}`, onclick: act }, text);
  const ACTS = {
    running: () => [button("Pause", () => upload.pause())],
    paused: () => [button("Resume", () => upload.run())],
    lost: () => [button("Choose the file again", () => again.click())],
    failed: () => [button("Try again", () => upload.run())],
  };
  let before = "";
  const draw = () => {
    bar.value = upload.bytes ? upload.offset / upload.bytes : 0;
    how.textContent = progressText(upload);
    error.say(upload.error);
    if (upload.state === before) return;
    before = upload.state;
    if (upload.state === "gone" || upload.state === "done") return leaveRow(row, upload, finished);
    const held = buttons.contains(document.activeElement);
    buttons.replaceChildren(...(ACTS[upload.state]?.() ?? []), button("Cancel", () => upload.discard()));
    if (held) buttons.firstElementChild.focus();
  };
  upload.addEventListener("change", draw);
  row.append(el("div", { class: "what" }, el("span", { class: "title" }, given(upload.name)), bar, how), buttons, error, again);
  draw();
  return row;
}

function leaveRow(row, upload, finished) {
  row.remove();
  if (upload.state !== "done") return;
  announce(`${upload.name} is uploaded.`);
  finished(upload);
}

function progressText({ state, offset, bytes: all, rate }) {
  const far = `${bytes(offset)} of ${bytes(all)}`;
  if (state === "lost") return `${far}. Cut off by leaving the page: choose the same file, and it goes on from there.`;
  if (state === "paused") return `${far}, paused`;
  if (state !== "running" || !rate) return far;
  return `${far}, ${bytes(rate)}/s, ${seconds(Math.ceil((all - offset) / rate))} left`;
}
