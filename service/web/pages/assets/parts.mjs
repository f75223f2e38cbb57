// What several pages show: states, errors, bars, commands to copy, questions.

import { amount, announce, el } from "./dom.mjs";

/** Bytes in the unit that fits. */
export const bytes = (value) => amount(value, "B");

/** A number with as many digits as a person compares. */
export function figure(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  return value === 0 ? "0" : value.toLocaleString("en", { maximumSignificantDigits: digits });
}

/** Milliseconds, all of them with three digits, so that columns and bars compare. */
export function milliseconds(value) {
  if (value === null || value === undefined) return "–";
  return `${value >= 1000 ? value.toLocaleString("en", { maximumFractionDigits: 0 }) : value.toPrecision(3)} ms`;
}

/** How many times as fast. */
export const times = (ratio) => `${ratio >= 100 ? ratio.toFixed(0) : ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2)} ×`;

/** What the service's own machine is called as a target. */
export const nameOfTarget = (name) => (name === "host" ? "This machine" : name);

/** A job in words: what for, and with which numbers. */
export const nameOfJob = ({ options }) => `${nameOfTarget(options.target)}, ${options.precision}`;

/** Seconds as people say them. */
export function seconds(value) {
  if (value < 90) return `${Math.round(value)} s`;
  const minutes = Math.round(value / 60);
  return minutes < 90 ? `${minutes} min` : `${figure(minutes / 60, 2)} h`;
}

const STEPS = [["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** A moment, given in seconds since 1970 or as ISO text, as far as it is back. */
export function when(moment) {
  const at = new Date(typeof moment === "number" ? moment * 1000 : moment);
  if (Number.isNaN(at.getTime())) return el("span", {}, "");
  const back = (at - Date.now()) / 1000;
  const [unit, length] = STEPS.find(([, size]) => Math.abs(back) >= size) ?? [null, 1];
  const text = unit ? relative.format(Math.round(back / length), unit) : "just now";
  return el("time", { datetime: at.toISOString(), title: at.toLocaleString() }, text);
}

/** Text that a model or a user gave: it cannot turn the text around it. */
export const given = (text, className) => el("bdi", { class: className }, text);

const STATES = {
  looking: ["Being looked at", "busy"], ready: ["Ready", "good"], refused: ["Refused", "bad"],
  queued: ["Waiting", "calm"], running: ["Running", "busy"], done: ["Done", "good"], failed: ["Failed", "bad"], cancelled: ["Cancelled", "calm"],
};

/** A state as a word; the colour says it once more. */
export function chip(state) {
  const [text, kind] = STATES[state] ?? [state, "calm"];
  return el("span", { class: `chip ${kind}` }, text);
}

/** An error where it happened; screen readers say it at once. Without a text, an empty place for one. */
export function problem(text = "") {
  const made = el("div", { class: "problem", role: "alert" });
  made.say = (message) => made.replaceChildren(...(message ? [el("p", {}, message)] : []));
  made.say(text);
  return made;
}

/** Runs what a button asks for: the button waits, and an error stands at `place`. */
export async function attempt(button, place, action) {
  place.say("");
  button.disabled = true;
  try {
    return await action();
  } catch (error) {
    place.say(error.message);
    return undefined;
  } finally {
    button.disabled = false;
  }
}

/** A part of a page under a heading. */
export function section(title, ...children) {
  const id = `part-${section.made++}`;
  return el("section", { class: "card", "aria-labelledby": id }, el("h2", { id }, title), children);
}
section.made = 0;

/** How much is done, from 0 to 1; null where nobody knows. */
export function progressBar(label, done) {
  const bar = el("progress", { max: 1, "aria-label": label });
  if (done !== null && done !== undefined) bar.value = done;
  return bar;
}

/** How much of a quota is used, as a bar and in words. */
export function quotaBar(label, used, most, say) {
  const full = most ? Math.min(1, used / most) : 0;
  const bar = el("progress", { class: full > 0.9 ? "meter near" : "meter", max: 1, value: full, "aria-label": label });
  return el("div", { class: "quota" }, el("span", {}, label), el("span", { class: "weak" }, `${say(used)} of ${say(most)}`), bar);
}

/** A command, and a button that copies it. */
export function command(text, label = "Copy the command") {
  const button = el("button", { type: "button", class: "copy", "aria-label": label, onclick: () => copy(text, button) }, "Copy");
  return el("div", { class: "command" }, el("code", { tabindex: 0, role: "group", "aria-label": label.replace(/^Copy /, "") }, text), button);
}

/** Puts a text into the clipboard, and says so on the button. */
export async function copy(text, button) {
  const before = button.textContent;
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    said = "Select it";
  }
  announce(said === "Copied" ? "Copied to the clipboard" : "The browser does not let pages copy: select the text");
  button.textContent = said;
  setTimeout(() => (button.textContent = before), 1600);
}

/** Asks before something that cannot be taken back. `typed` is what has to be typed first, if anything. */
export function ask({ title, text, verb, typed }) {
  return new Promise((answer) => {
    const yes = el("button", { class: "danger", value: "yes", disabled: Boolean(typed) }, verb);
    const field = typed && el("label", { class: "field" }, el("span", {}, "Type ", el("strong", {}, given(typed)), " to go on"),
      el("input", { autocomplete: "off", spellcheck: "false", oninput: (event) => (yes.disabled = event.target.value !== typed) }));
    const dialog = el("dialog", { "aria-labelledby": "question", onclose: () => {
      dialog.remove();
      answer(dialog.returnValue === "yes");
    } }, el("form", { method: "dialog" }, el("h2", { id: "question" }, title), el("p", {}, text), field,
      el("div", { class: "buttons" }, el("button", { value: "no" }, "Keep it"), yes)));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Calls `look` again and again, until it gives false or the returned function is called. */
export function repeat(milliseconds, look) {
  let timer, stopped = false;
  const turn = async () => {
    const goes = await look().catch(() => true);
    if (goes !== false && !stopped) timer = setTimeout(turn, milliseconds);
  };
  timer = setTimeout(turn, milliseconds);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
