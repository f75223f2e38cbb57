// The user's account: quota, tokens, and deletion of everything.

import { get, post, remove } from "./api.mjs";
import { announce, el } from "./dom.mjs";
import { ask, attempt, bytes, command, given, problem, quotaBar, seconds, section, when } from "./parts.mjs";

/** The page. */
export async function accountPage() {
  const [me, tokens] = await Promise.all([get("/me"), get("/tokens")]);
  const name = me.user;
  return { title: "Account", element: el("div", {}, el("h1", {}, "Account"), el("p", { class: "weak facts" }, "Signed in as ", el("strong", {}, given(name))),
    el("div", { class: "parts" }, quota(me), new Tokens(tokens).element, deletion(me))) };
}

function quota({ quota: most, used }) {
  return section("Quota", quotaBar("Storage", used.bytes, most.bytes, bytes),
    quotaBar("Jobs in the queue", used.jobs_queued, most.jobs_queued, (value) => value.toLocaleString("en")),
    el("p", { class: "weak" }, `A job may take ${seconds(most.seconds_per_job)} at most. Deleting models frees their storage.`));
}

class Tokens {
  constructor(tokens) {
    this.error = problem();
    this.list = el("ul", { class: "models", "aria-label": "Tokens" });
    this.shown = el("div", { role: "status" });
    this.name = el("input", { name: "name", required: true, maxlength: 100, autocomplete: "off", placeholder: "What it is for, such as laptop", "aria-label": "Name of the new token" });
    const button = el("button", { type: "submit" }, "Make a token");
    const form = el("form", { class: "line-form", onsubmit: (event) => {
      event.preventDefault();
      attempt(button, this.error, () => this.make());
    } }, this.name, button);
    this.element = section("Tokens", el("p", { class: "weak" }, "For ", el("code", {}, "nnc remote"), ", the Python client, and signing in elsewhere. A token is shown once."), this.list, form, this.error, this.shown);
    this.draw(tokens);
  }

  draw(tokens) {
    const row = (one) => {
      const button = el("button", { class: "quiet", "aria-label": `Delete the token ${one.name}`, onclick: () => attempt(button, this.error, async () => {
        if (!(await ask({ title: "Delete this token?", text: "Whatever signs in with it no longer can.", verb: "Delete the token" }))) return;
        await remove(`/tokens/${one.id}`);
        this.draw(await get("/tokens"));
      }) }, "Delete");
      return el("li", { class: "model" }, el("div", { class: "what" }, el("span", { class: "title" }, given(one.name)), el("p", { class: "weak" }, "made ", when(one.created))), button);
    };
    this.list.replaceChildren(...(tokens.length ? tokens.map(row) : [el("li", { class: "empty" }, "No tokens.")]));
  }

  async make() {
    const made = await post("/tokens", { name: this.name.value.trim() });
    this.name.value = "";
    this.shown.replaceChildren(el("p", {}, "Your new token. Copy it now: it is not shown again."), command(made.token, "Copy the token"));
    this.draw(await get("/tokens"));
  }
}

function deletion({ user: name, operator }) {
  if (operator) return section("Deletion", el("p", { class: "weak" }, "This account runs the service. ", el("code", {}, "nnc serve user remove"), " deletes it."));
  const error = problem();
  const button = el("button", { class: "danger", onclick: async () => {
    const sure = await ask({ title: "Delete everything?", text: "Your account, all models, packages, figures and tokens are deleted. This cannot be taken back.", verb: "Delete everything", typed: name });
    if (sure) await attempt(button, error, async () => {
      await remove("/me");
          announce("Your account is deleted.");
      dispatchEvent(new Event("signed-out"));
    });
  } }, "Delete everything");
  return section("Deletion", el("p", { class: "weak" }, "Deletes your account and all that is yours on this service."), el("div", { class: "buttons" }, button), error);
}
