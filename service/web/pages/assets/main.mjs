// The frame of all pages: who is signed in, which page the address names, and going from one to another.

import { accountPage } from "./account.mjs";
import { get, remove } from "./api.mjs";
import { announce, el, live } from "./dom.mjs";
import { modelPage } from "./model.mjs";
import { modelsPage } from "./models.mjs";
import { orderPage } from "./order.mjs";
import { problem } from "./parts.mjs";
import { signInPage } from "./signin.mjs";

const ROUTES = [
  [/^\/(?:models)?$/, modelsPage],
  [/^\/models\/([\w-]+)$/, modelPage],
  [/^\/orders\/([\w-]+)$/, orderPage],
  [/^\/account$/, accountPage],
];
const content = document.getElementById("content");
const head = document.getElementById("head");
let user = null, leave = null, turn = 0;

/** Opens a page of this service by its path. */
export function go(path, replaces = false) {
  history[replaces ? "replaceState" : "pushState"](null, "", path);
  return show(true);
}

async function show(moves) {
  const mine = ++turn;
  leave?.();
  leave = null;
  drawHead();
  const [make, ...parts] = found();
  let page;
  try {
    page = await make({ user, go, signedIn }, ...parts);
  } catch (error) {
    if (error.status === 401) return;
    page = { title: error.status === 404 ? "Not found" : "Something went wrong", element: failed(error) };
  }
  if (mine !== turn) return page.leave?.();
  leave = page.leave;
  document.title = `${page.title} – nnc`;
  content.replaceChildren(page.element);
  if (!moves) return;
  const heading = content.querySelector("h1");
  heading.setAttribute("tabindex", "-1");
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function found() {
  if (!user || location.pathname === "/sign-in") return [signInPage];
  for (const [pattern, make] of ROUTES) {
    const parts = pattern.exec(location.pathname);
    if (parts) return [make, ...parts.slice(1)];
  }
  return [async () => ({ title: "Not found", element: failed({ status: 404 }) })];
}

function failed({ status, message }) {
  const again = status !== 404 && el("button", { class: "primary", onclick: () => show(true) }, "Try again");
  return el("div", { class: "narrow" }, el("h1", {}, status === 404 ? "There is nothing here" : "This page could not be opened"),
    status === 404 ? el("p", {}, "It was deleted, or it belongs to someone else. ", el("a", { href: "/models" }, "Your models")) : problem(message), again);
}

function drawHead() {
  const at = (path) => (location.pathname === "/" ? "/models" : location.pathname).startsWith(path) && "page";
  head.replaceChildren(
    el("a", { class: "logo", href: "/", "aria-label": "nnc, start page" }, "nnc"),
    user ? el("nav", { "aria-label": "Pages" }, el("a", { href: "/models", "aria-current": at("/models") }, "Models"),
      el("a", { href: "/account", "aria-current": at("/account") }, "Account")) : "",
    user ? el("button", { class: "quiet", onclick: signOut }, "Sign out") : "");
}

async function signedIn() {
  user = await get("/me");
  if (location.pathname === "/sign-in") history.replaceState(null, "", "/models");
  await show(true);
}

async function signOut() {
  await remove("/session").catch(() => {});
  user = null;
  await go("/");
  announce("You are signed out.");
}

function follows(event) {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || link.target || link.hasAttribute("download") || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  go(link.pathname);
}

document.body.append(live);
document.addEventListener("click", follows);
addEventListener("popstate", () => show(true));
addEventListener("signed-out", () => {
  if (!user) return;
  user = null;
  show(true).then(() => announce("Your session has ended. Sign in again."));
});
user = await get("/me").catch(() => null);
await show(false);
