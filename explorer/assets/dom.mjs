// Elements, numbers as people read them, and lists of any length.

/** An element: attributes by name, listeners as functions under `on..`, children as nodes or text. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.setAttribute("class", value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(3).filter((one) => one !== undefined && one !== null && one !== false));
  return made;
}

const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(2));

/** Microseconds in the unit that fits. */
export function duration(microseconds) {
  if (microseconds === null || microseconds === undefined) return "unknown";
  if (microseconds >= 1e6) return `${digits(microseconds / 1e6)} s`;
  if (microseconds >= 1e3) return `${digits(microseconds / 1e3)} ms`;
  if (microseconds >= 1) return `${digits(microseconds)} µs`;
  return `${digits(microseconds * 1e3)} ns`;
}

/** A count with the prefix that fits, such as 3.2 M. */
export function amount(value, unit = "") {
  if (value === null || value === undefined) return "unknown";
  let rest = value, prefix = "";
  for (const next of ["k", "M", "G", "T"]) {
    if (rest < 1000) break;
    rest /= 1000;
    prefix = next;
  }
  const text = prefix || !Number.isInteger(rest) ? digits(rest) : String(rest);
  return `${text} ${prefix}${unit}`.trim();
}

export const percent = (part) => (Number.isFinite(part) ? `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %` : "");

export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** A table: heads, and rows of cells, each text or a node. Heads that begin with # are numbers. */
export function table(caption, heads, rows) {
  const numeric = heads.map((head) => head.startsWith("#"));
  const name = (head) => head.replace(/^#/, "");
  return el("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {}, el("caption", { class: "hidden" }, caption),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: numeric[i] && "number" }, name(head))))),
      el("tbody", {}, rows.map((row) => el("tr", { class: row.mark }, (row.cells ?? row).map((cell, i) =>
        el("td", { class: numeric[i] && "number" }, cell)))))));
}

/** Buttons of which one is pressed. */
export function choices(label, rows, chosen, choose) {
  const buttons = rows.map(([key, text]) => el("button", {
    type: "button", class: "choice", "aria-pressed": String(key === chosen), onclick: () => choose(key),
  }, text));
  return el("div", { class: "choices", role: "group", "aria-label": label }, buttons);
}

/** A menu of [key, text]. */
export function menu(label, rows, chosen, choose, className = "") {
  const made = el("select", { "aria-label": label, class: className, onchange: () => choose(made.value) },
    rows.map(([key, text]) => el("option", { value: key, selected: String(key) === String(chosen) }, text)));
  return made;
}

/** What screen readers say when it changes. */
export const live = el("div", { class: "hidden", role: "status", "aria-live": "polite" });

export function announce(text) {
  live.textContent = text;
}

/**
 * A list that makes elements only for the rows that are seen. `draw(row)` gives the content of one;
 * `act(row)` is called for a click or Enter, `move(row)` as the keyboard moves.
 */
export class LongList {
  constructor({ label, height, draw, act, move, keys, className = "" }) {
    Object.assign(this, { height, draw, act, move, keys });
    this.count = 0;
    this.current = -1;
    this.filler = el("div", { class: "filler" });
    this.element = el("div", {
      class: `long ${className}`, tabindex: 0, role: "listbox", "aria-label": label,
      onscroll: () => this.refresh(), onkeydown: (event) => this.onkey(event),
    }, this.filler);
    this.shown = new Map();
    new ResizeObserver(() => this.refresh()).observe(this.element);
  }

  fill(count, keep = false) {
    this.count = count;
    if (!keep) this.current = -1;
    this.filler.style.height = `${count * this.height}px`;
    this.redraw();
  }

  redraw() {
    for (const row of this.shown.values()) row.remove();
    this.shown.clear();
    this.refresh();
  }

  refresh() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - 8);
    const last = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / this.height) + 8);
    for (const [row, element] of this.shown)
      if (row < first || row >= last) {
        element.remove();
        this.shown.delete(row);
      }
    for (let row = first; row < last; row++) if (!this.shown.has(row)) this.show(row);
  }

  show(row) {
    const { content, className = "", selected = false } = this.draw(row);
    const element = el("div", {
      class: `row ${className} ${row === this.current ? "current" : ""}`, role: "option", id: `${this.id}-${row}`,
      "aria-posinset": row + 1, "aria-setsize": this.count, "aria-selected": String(selected),
      onclick: (event) => {
        this.current = row;
        this.act(row, event);
        this.mark();
      },
    }, content);
    element.style.top = `${row * this.height}px`;
    element.style.height = `${this.height}px`;
    this.filler.append(element);
    this.shown.set(row, element);
  }

  id = `list-${LongList.made++}`;
  static made = 0;

  mark() {
    for (const [row, element] of this.shown) element.classList.toggle("current", row === this.current);
    this.element.setAttribute("aria-activedescendant", `${this.id}-${this.current}`);
  }

  /** Scrolls as far as it takes to see a row, to the middle where it was not seen. */
  reveal(row) {
    const { scrollTop, clientHeight } = this.element;
    const top = row * this.height;
    if (top < scrollTop || top + this.height > scrollTop + clientHeight)
      this.element.scrollTop = Math.max(0, top - clientHeight / 2 + this.height);
    this.refresh();
  }

  go(row) {
    if (!this.count) return;
    this.current = Math.max(0, Math.min(this.count - 1, row));
    this.reveal(this.current);
    this.mark();
    this.move?.(this.current);
  }

  onkey(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) {
      const to = this.current + steps[event.key];
      this.go(to === Infinity ? this.count - 1 : to === -Infinity ? 0 : to);
    } else if ((event.key === "Enter" || event.key === " ") && this.current >= 0) {
      this.act(this.current, event);
      this.mark();
    } else if (!this.keys?.(event, this.current)) return;
    event.preventDefault();
  }
}
