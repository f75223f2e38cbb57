// A model: what is in it, a look inside, what it is to be made for, and what was ordered before.

import { address, get, remove } from "./api.mjs";
import { amount, el, plural, table } from "./dom.mjs";
import { orderForm } from "./choose.mjs";
import { ask, attempt, bytes, chip, given, milliseconds, nameOfJob, problem, repeat, section, when } from "./parts.mjs";

/** The page. */
export async function modelPage({ user, go }, id) {
  const [model, orders] = await Promise.all([get(`/models/${id}`), get("/orders")]);
  const body = el("div", { class: "parts" }), inner = el("div");
  const badge = el("span", {}, chip(model.state));
  const draw = (found) => {
    badge.replaceChildren(chip(found.state));
    inner.replaceChildren(...lookInside(found));
    body.replaceChildren(...parts(found, { user, go, inner, orders: orders.filter((order) => order.model === id) }));
  };
  draw(model);
  let last = model.state;
  const stop = !waits(model) ? () => {} : repeat(1200, async () => {
    const now = await get(`/models/${id}`);
    if (now.state !== last) draw(now);
    else if (!waits(now)) inner.replaceChildren(...lookInside(now)); // what was chosen for an order stays
    last = now.state;
    return waits(now);
  });
  return { title: model.name, leave: stop, element: el("div", {},
    el("nav", { class: "crumbs", "aria-label": "Where this is" }, el("a", { href: "/models" }, "Models")),
    el("div", { class: "headline" }, el("h1", {}, given(model.name)), badge),
    el("p", { class: "weak facts" }, facts(model)), body) };
}

const waits = ({ state, pages }) => state === "looking" || pages?.making;

function facts({ bytes: size, created, sha256 }) {
  return [bytes(size), " · uploaded ", when(created), sha256 ? [" · SHA-256 ", el("code", { title: sha256 }, sha256.slice(0, 12))] : ""];
}

function* parts(model, context) {
  if (model.state === "looking") yield el("section", { class: "card busy-card", role: "status" }, el("p", {}, "nnc is looking at this model: its operators, dimensions, and what it would take."), el("progress", { "aria-label": "Being looked at" }));
  if (model.state === "refused") yield refusal(model);
  if (model.look) yield* found(model.look);
  if (model.state === "ready") yield context.inner;
  if (model.state === "ready") yield section("Make it fast", model.look?.unsupported?.length ? hopeless() : orderForm(model, context));
  if (context.orders.length) yield section("Ordered before", history(context.orders));
  yield deletion(model, context);
}

function hopeless() {
  return el("p", {}, "No package can be made of this model until nnc supports all of its operators, or it goes without those named above.");
}

function refusal({ error }) {
  return el("section", { class: "card refused", role: "alert" }, el("h2", {}, "nnc cannot take this model"), el("p", {}, given(error ?? "")),
    el("p", { class: "weak" }, "Correct the file and upload it again; this one can be deleted below."));
}

function* found(look) {
  const tile = (value, label) => el("div", { class: "tile" }, el("dt", {}, label), el("dd", {}, value));
  const host = Object.entries(look.seconds ?? {})[0];
  yield section("What is in it",
    el("dl", { class: "tiles" }, tile(look.format ?? "–", "Format"), tile(amount(look.operators.reduce((sum, one) => sum + one.count, 0)), "Nodes"),
      tile(look.weights_bytes === null ? "–" : bytes(look.weights_bytes), "Weights"),
      tile(look.operations === null ? "–" : amount(look.operations, "FLOP"), "A run"),
      tile(look.weights_bytes === null ? "–" : bytes(look.weights_bytes + look.arena_bytes), "Memory"),
      host && tile(milliseconds(host[1] * 1000), "Expected, untuned")),
    look.producer && el("p", { class: "weak" }, "Written by ", given(look.producer)),
    unsupported(look), tensors(look), operators(look.operators), remarks(look));
}

function unsupported({ unsupported: faults, unexamined }) {
  if (!faults.length) return null;
  return el("div", { class: "problem" }, el("h3", {}, `Not supported (${faults.length})`), el("ul", {}, faults.map((one) => el("li", {}, given(one)))),
    unexamined ? el("p", {}, `${plural(unexamined, "node")} that depend on these were not looked at.`) : null);
}

function tensors({ inputs = [], outputs = [], open_dimensions: open, assumed_shapes: assumed }) {
  const rows = [...inputs.map((one) => ["Input", one]), ...outputs.map((one) => ["Output", one])]
    .map(([kind, { name, type }]) => [kind, given(name), el("code", {}, type)]);
  const shapes = Object.entries(assumed ?? {});
  return [
    rows.length ? [el("h3", {}, "Inputs and outputs"), table("Inputs and outputs", ["Kind", "Name", "Type"], rows)] : null,
    open.length ? [el("h3", {}, "Dimensions that only a run knows"), table("Dimensions that only a run knows", ["Where", "Type", "What decides"], open.map((one) => [given(one.place), el("code", {}, one.type), given(one.because)]))] : null,
    shapes.length ? el("p", { class: "weak" }, "Figures are for ", shapes.map(([name, shape], i) => [i ? ", " : "", given(name), ` = ${shape.join(" × ")}`]), ".") : null,
  ];
}

function operators(rows) {
  const most = Math.max(1, ...rows.map((one) => one.count));
  const line = (one) => el("li", {}, given(one.domain ? `${one.domain}.${one.name}` : one.name, one.unsupported ? "missing" : undefined),
    el("meter", { min: 0, max: most, value: one.count, "aria-hidden": "true" }), el("span", { class: "number" }, one.count.toLocaleString("en")),
    one.unsupported ? el("span", { class: "missing" }, `${one.unsupported} not supported`) : null);
  const first = rows.slice(0, 8), rest = rows.slice(8);
  return [el("h3", {}, `Operators (${rows.length})`), el("ul", { class: "operators" }, first.map(line)),
    rest.length ? el("details", {}, el("summary", {}, `${rest.length} more`), el("ul", { class: "operators" }, rest.map(line))) : null];
}

function remarks({ warnings, host_steps: steps, notes }) {
  const listed = (title, rows) => rows.length ? el("details", {}, el("summary", {}, `${title} (${rows.length})`), el("ul", { class: "plain" }, rows.map((one) => el("li", {}, given(one))))) : null;
  return [listed("Other runtimes compute something else", warnings), listed("Computed by a host in Python, so that no library has them", steps),
    listed("What the model says of itself", Object.entries(notes ?? {}).map(([key, text]) => `${key}: ${text}`))];
}

function lookInside(model) {
  if (model.pages?.explore) return [inside(model)];
  const reason = model.look?.no_page;
  const said = model.pages?.making
    ? [el("p", { role: "status" }, "The page that shows its graph, kernels and instructions is being made."), el("progress", { "aria-label": "The page is being made" })]
    : reason ? [el("p", { class: "weak" }, "There is no page that shows its inside: ", given(reason))] : null;
  return said ? [section("Look inside", said)] : [];
}

function inside({ id, name }) {
  const page = address(`/models/${id}/explore`);
  const place = el("div", { class: "inside" });
  const show = el("button", { "aria-expanded": "false", onclick: () => {
    const open = show.getAttribute("aria-expanded") === "true";
    show.setAttribute("aria-expanded", String(!open));
    show.textContent = open ? "Show it here" : "Close it";
    place.replaceChildren(...(open ? [] : [el("iframe", { src: page, sandbox: "allow-scripts allow-same-origin allow-downloads", title: `Look inside ${name}` })]));
  } }, "Show it here");
  return section("Look inside", el("p", {}, "The graph, each kernel with its reasons, schedule and machine instructions, all stages side by side. It times itself in your browser."),
    el("div", { class: "buttons" }, el("a", { class: "button", href: page, target: "_blank", rel: "noopener" }, "Open on a page of its own"), show), place);
}

function history(orders) {
  const row = (order) => el("li", { class: "model" }, el("div", { class: "what" },
    el("a", { class: "title", href: `/orders/${order.id}` }, plural(order.jobs.length, "package"), ": ", order.jobs.slice(0, 3).map(nameOfJob).join("; "), order.jobs.length > 3 ? " .." : ""),
    el("p", { class: "weak" }, when(order.created))), chip(stateOf(order.jobs)));
  return el("ul", { class: "models" }, orders.map(row));
}

/** One word for the jobs of an order. */
export function stateOf(jobs) {
  for (const state of ["running", "queued"]) if (jobs.some((job) => job.state === state)) return state;
  return ["done", "failed"].find((state) => jobs.some((job) => job.state === state)) ?? "cancelled";
}

function deletion(model, { go }) {
  const error = problem();
  const button = el("button", { class: "danger", onclick: async () => {
    const sure = await ask({ title: "Delete this model?", text: "Its file, all that was found out about it, and all packages made of it are deleted. This cannot be taken back.", verb: "Delete the model" });
    if (sure) await attempt(button, error, async () => {
      await remove(`/models/${model.id}`);
      await go("/models");
    });
  } }, "Delete this model");
  return el("div", { class: "ending" }, button, error);
}
