// Signing in with a token.

import { post } from "./api.mjs";
import { el } from "./dom.mjs";
import { attempt, problem } from "./parts.mjs";

/** The page; a one-time link brings its token behind `#`, which browsers send to nobody. */
export async function signInPage({ signedIn }) {
  const error = problem();
  const field = el("input", {
    id: "token", type: "password", autocomplete: "current-password", spellcheck: "false", required: true, "aria-describedby": "token-hint",
  });
  const button = el("button", { class: "primary", type: "submit" }, "Sign in");
  const enter = (token) => attempt(button, error, async () => {
    await post("/session", { token });
    await signedIn();
  });
  const form = el("form", { class: "stack", onsubmit: (event) => {
    event.preventDefault();
    const token = field.value.trim();
    if (token) enter(token);
    else error.say("Enter your token.");
  } }, el("label", { for: "token" }, "Token"), field,
    el("p", { class: "hint", id: "token-hint" }, "Whoever runs this service gives you one: ", el("code", {}, "nnc serve token NAME"), " prints it."),
    error, el("div", { class: "buttons" }, button));
  const once = location.pathname === "/sign-in" ? decodeURIComponent(location.hash.slice(1)) : "";
  if (once) {
    history.replaceState(null, "", "/sign-in");
    queueMicrotask(() => enter(once));
  }
  return { title: "Sign in", element: el("div", { class: "entrance" },
    el("div", { class: "promise" }, el("h1", {}, "The fastest way to run your model, measured"),
      el("p", {}, "Bring a model, choose the hardware, and take away a library that needs nothing else."),
      el("ul", { class: "ticks" }, ["Measured on this service beside ONNX Runtime, OpenVINO and the framework's own", "Accuracy against your original, on your inputs", "Every figure with the command that repeats it"].map((one) => el("li", {}, one)))),
    el("div", { class: "card" }, el("h2", {}, "Sign in"), form)) };
}
