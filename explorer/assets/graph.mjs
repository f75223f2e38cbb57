// The drawing of a model's graph: only what is seen is drawn, scopes open and close.

import { announce, el } from "./dom.mjs";
import { NODE_HEIGHT, placed } from "./layout.mjs";

const OPEN_AT_FIRST = 150; // boxes
const WIDEST = 300;
const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";
const FAMILIES = [
  ["io", /^(input|output)$/i],
  ["product", /conv|matmul|gemm|einsum|linear|dot|attention|lstm|gru|rnn/i],
  ["norm", /norm|softmax|lrn/i],
  ["pool", /pool|reduce|mean|sum|argm|topk/i],
  ["move", /reshape|transpose|concat|slice|split|pad|gather|scatter|expand|squeeze|flatten|cast|shape|tile|resize|identity|permute|view|call/i],
];

/** The family of a kind of node, which has a color. */
export const familyOf = (kind) => FAMILIES.find(([, pattern]) => pattern.test(kind))?.[0] ?? "element";

export class GraphView {
  /** `choose(node)` is called for a node that is selected, `info(node)` tells { share, mark } of one. */
  constructor({ graph, choose, info }) {
    Object.assign(this, { graph, choose, info });
    this.canvas = el("canvas", {
      tabindex: 0, role: "application", "aria-roledescription": "graph",
      "aria-label": `Graph of ${graph.name}: arrow keys walk along edges, Enter selects a node or opens a scope, Escape closes it, plus and minus zoom`,
    });
    this.map = el("canvas", { class: "minimap", "aria-hidden": "true" });
    const button = (text, label, act) => el("button", { type: "button", title: label, "aria-label": label, onclick: act }, text);
    this.element = el("div", { class: "graph" }, this.canvas, this.map, el("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
      button("+", "Closer", () => this.zoom(1.3)), button("−", "Further away", () => this.zoom(1 / 1.3)),
      button("⤢", "The whole graph", () => this.fit()),
      button("⊞", "Open all scopes", () => this.openAll()), button("⊟", "Close all scopes", () => this.closeAll())));
    this.context = this.canvas.getContext("2d");
    this.widths = new Map();
    this.open = this.atFirst();
    this.selected = -1;
    this.target = -1; // what is to be seen: the selected node, or the first of those that are related
    this.related = new Set();
    this.focused = undefined;
    this.colouring = "kind";
    this.view = { scale: 1, x: 20, y: 20 };
    this.listen();
    this.layout();
    this.started = false;
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle());
  }

  // Scopes from the outside, as long as few enough boxes are seen.
  atFirst() {
    const open = new Set(), waiting = [0];
    let count = this.graph.scopes[0].boxes.length;
    while (waiting.length) {
      for (const box of this.graph.scopes[waiting.shift()].boxes) {
        if (box >= 0) continue;
        const more = this.graph.scopes[-1 - box].boxes.length;
        if (count + more > OPEN_AT_FIRST) continue;
        count += more;
        open.add(-1 - box);
        waiting.push(-1 - box);
      }
    }
    return open;
  }

  textOf(id) {
    if (id >= 0) return [this.graph.nodes[id].kind, this.graph.nodes[id].name];
    return [this.graph.scopes[-1 - id].name, `${this.sizeOf(-1 - id)} nodes`];
  }

  sizeOf(scope) {
    this.sizes ??= new Map();
    if (!this.sizes.has(scope)) this.sizes.set(scope, this.graph.inside(scope).length);
    return this.sizes.get(scope);
  }

  widthOf(id) {
    if (!this.widths.has(id)) {
      const [strong, weak] = this.textOf(id);
      this.context.font = `600 12px ${FONT}`;
      const first = this.context.measureText(strong.slice(0, 60)).width;
      this.context.font = `12px ${FONT}`;
      this.widths.set(id, Math.min(WIDEST, Math.ceil(first + this.context.measureText(weak.slice(0, 60)).width + 34)));
    }
    return this.widths.get(id);
  }

  layout() {
    this.place = placed(this.graph, this.open, (id) => this.widthOf(id));
    this.boxOf = new Map(this.place.boxes.map((box) => [box.id, box]));
    this.draw();
  }

  // -- what is seen --------------------------------------------------------------------------------

  resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (!w || !h) return;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = w * ratio;
    this.canvas.height = h * ratio;
    if (!this.started) {
      this.started = true;
      if (this.target >= 0) this.reveal(this.target);
      else this.fit(0.75);
    } else this.showTarget();
    this.paint(); // at once: a canvas of another size is empty
  }

  fit(least = 0) {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const scale = Math.min(1.1, Math.max(least, Math.min((w - 40) / this.place.w, (h - 40) / this.place.h)));
    const tall = this.place.h * scale > h - 40;
    this.view = { scale, x: (w - this.place.w * scale) / 2, y: tall ? 20 : (h - this.place.h * scale) / 2 };
    if (this.place.w * scale > w - 40) this.centerOn(this.place.boxes[0], 0.5, least ? 0.1 : 0.5);
    else this.draw();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(3, Math.max(0.005, this.view.scale * factor));
    const real = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * real, y: y - (y - this.view.y) * real };
    this.draw();
  }

  centerOn(box, across = 0.5, down = 0.4) {
    if (!box) return this.draw();
    const { scale } = this.view;
    this.view.x = this.canvas.clientWidth * across - (box.x + box.w / 2) * scale;
    this.view.y = this.canvas.clientHeight * down - (box.y + Math.min(box.h, NODE_HEIGHT) / 2) * scale;
    this.draw();
  }

  toggle(scope) {
    const box = this.boxOf.get(-1 - scope);
    const { x, y } = box ?? { x: 0, y: 0 };
    if (!this.open.delete(scope)) this.open.add(scope);
    this.layout();
    const after = this.boxOf.get(-1 - scope);
    if (after && box) {
      this.view.x += (x + box.w / 2 - after.x - after.w / 2) * this.view.scale;
      this.view.y += (y - after.y) * this.view.scale;
    }
    announce(`${this.graph.scopes[scope].name} ${this.open.has(scope) ? "opened" : "closed"}`);
    this.draw();
  }

  openAll() {
    this.open = new Set(this.graph.scopes.keys());
    this.layout();
    this.fit(0.3);
  }

  closeAll() {
    this.open = new Set();
    this.layout();
    this.fit(0.75);
  }

  /** Opens the scopes around a node and brings it into view. */
  reveal(node) {
    let changed = false;
    for (let at = this.graph.nodes[node].scope; at > 0; at = this.graph.scopes[at].parent)
      if (!this.open.has(at)) {
        this.open.add(at);
        changed = true;
      }
    if (changed) this.layout();
    this.view.scale = Math.max(this.view.scale, 0.8);
    this.centerOn(this.boxOf.get(node));
  }

  select(node, related = []) {
    this.selected = node;
    this.related = new Set(related);
    this.focused = node >= 0 ? node : this.focused;
    this.target = node >= 0 ? node : related[0] ?? -1;
    if (this.started) this.showTarget();
    this.draw();
  }

  showTarget() {
    const box = this.boxOf.get(this.target);
    if (this.target >= 0 && (!box || !this.isSeen(box))) this.reveal(this.target);
  }

  isSeen({ x, y, w, h }) {
    const { scale, x: left, y: top } = this.view;
    const a = (x + w / 2) * scale + left, b = (y + Math.min(h, NODE_HEIGHT) / 2) * scale + top;
    return a > 60 && b > 20 && a < this.canvas.clientWidth - 60 && b < this.canvas.clientHeight - 20 && scale > 0.3;
  }

  // -- pointers and keys -----------------------------------------------------------------------------

  listen() {
    const pointers = new Map();
    let moved = 0;
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) {
        const box = this.boxAt(event.offsetX, event.offsetY);
        canvas.style.cursor = box ? "pointer" : "grab";
        canvas.title = box ? this.textOf(box.id).join(" ") : "";
        return;
      }
      const now = [event.offsetX, event.offsetY];
      const others = [...pointers.entries()].filter(([id]) => id !== event.pointerId);
      if (others.length) {
        const [, other] = others[0];
        const far = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
        this.zoom(far(now) / Math.max(1, far(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      } else {
        this.view.x += now[0] - before[0];
        this.view.y += now[1] - before[1];
      }
      moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      pointers.set(event.pointerId, now);
      this.draw();
    });
    const up = (event) => {
      const was = pointers.delete(event.pointerId);
      if (was && moved < 5 && event.type === "pointerup") this.pick(this.boxAt(event.offsetX, event.offsetY));
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) return this.zoom(Math.exp(-event.deltaY / 200), event.offsetX, event.offsetY);
      this.view.x -= event.shiftKey ? event.deltaY : event.deltaX;
      this.view.y -= event.shiftKey ? 0 : event.deltaY;
      this.draw();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.onkey(event));
    canvas.addEventListener("focus", () => this.draw());
    canvas.addEventListener("blur", () => this.draw());
    this.map.addEventListener("pointerdown", (event) => this.jump(event));
  }

  boxAt(x, y) {
    const { scale, x: left, y: top } = this.view;
    const a = (x - left) / scale, b = (y - top) / scale;
    const inside = (box) => a >= box.x && a <= box.x + box.w && b >= box.y && b <= box.y + box.h;
    return this.place.boxes.filter(inside).sort((p, q) => q.depth - p.depth).find((box) => !box.isOpen || b < box.y + NODE_HEIGHT);
  }

  pick(box) {
    if (!box) return;
    this.focused = box.id;
    if (box.id < 0) this.toggle(-1 - box.id);
    else this.choose(box.id);
  }

  onkey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      ArrowDown: () => this.walk("down"), ArrowUp: () => this.walk("up"),
      ArrowLeft: () => this.walk("left"), ArrowRight: () => this.walk("right"),
      Enter: () => this.pick(this.boxOf.get(this.focused)), " ": () => this.pick(this.boxOf.get(this.focused)),
      Escape: () => this.leave(), "+": () => this.zoom(1.3), "=": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3), 0: () => this.fit(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  walk(way) {
    const box = this.boxOf.get(this.focused) ?? this.place.boxes[0];
    if (!box) return;
    let next;
    if (!this.boxOf.has(this.focused)) next = box;
    else if (way === "down" || way === "up") {
      const [here, there] = way === "down" ? ["source", "target"] : ["target", "source"];
      const ends = this.place.edges.filter((edge) => edge[here] === box.id).map((edge) => this.boxOf.get(edge[there]));
      if (way === "down" && box.isOpen) next = this.boxOf.get(this.graph.scopes[-1 - box.id].boxes[0]);
      next ??= ends[0];
    } else {
      const sign = way === "left" ? -1 : 1;
      const beside = this.place.boxes.filter((one) => one.depth === box.depth && sign * (one.x - box.x) > 0 && Math.abs(one.y - box.y) < 3 * NODE_HEIGHT);
      next = beside.sort((p, q) => sign * (p.x - q.x))[0];
    }
    if (!next) return announce(`nothing ${way} of here`);
    this.focused = next.id;
    const [strong, weak] = this.textOf(next.id);
    announce(`${next.id < 0 ? "scope " : ""}${strong} ${weak}`);
    if (this.isSeen(next)) this.draw();
    else this.centerOn(next);
  }

  leave() {
    if (this.focused === undefined) return;
    const scope = this.focused >= 0 ? this.graph.nodes[this.focused].scope : this.open.has(-1 - this.focused) ? -1 - this.focused : this.graph.scopes[-1 - this.focused].parent;
    if (scope <= 0) return;
    this.focused = -1 - scope;
    this.toggle(scope);
  }

  // -- drawing -----------------------------------------------------------------------------------------

  restyle() {
    this.colours = undefined;
    this.draw();
  }

  color(name) {
    this.colours ??= {};
    return (this.colours[name] ??= getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    const { context: c, canvas, view: { scale, x, y }, place } = this;
    if (!canvas.width) return;
    const ratio = devicePixelRatio || 1;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = this.color("ground");
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    const seen = { left: -x / scale, top: -y / scale, right: (canvas.clientWidth - x) / scale, bottom: (canvas.clientHeight - y) / scale };
    const meets = (l, t, r, b) => r >= seen.left && l <= seen.right && b >= seen.top && t <= seen.bottom;
    const boxes = place.boxes.filter((box) => meets(box.x, box.y, box.x + box.w, box.y + box.h));
    for (const box of boxes) if (box.isOpen) this.paintScope(c, box, scale);
    this.paintEdges(c, meets, scale);
    for (const box of boxes) if (!box.isOpen) this.paintBox(c, box, scale);
    this.paintMap(seen);
  }

  paintEdges(c, meets, scale) {
    const touches = (id) => id === this.selected && this.selected >= 0;
    for (const strong of [false, true]) {
      c.strokeStyle = this.color(strong ? "accent" : "edge");
      c.lineWidth = (strong ? 2 : 1.2) / Math.max(scale, 0.25);
      c.beginPath();
      for (const { source, target, points } of this.place.edges) {
        if ((touches(source) || touches(target)) !== strong) continue;
        const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
        if (!meets(Math.min(...xs) - 60, Math.min(...ys), Math.max(...xs) + 60, Math.max(...ys))) continue;
        c.moveTo(...points[0]);
        for (let i = 1; i < points.length; i++) {
          const [a, b] = points[i - 1], [u, v] = points[i];
          const bend = Math.min(40, Math.abs(v - b) / 2);
          c.bezierCurveTo(a, b + bend, u, v - bend, u, v);
        }
      }
      c.stroke();
    }
  }

  paintScope(c, box, scale) {
    c.fillStyle = this.color(box.depth % 2 ? "scope-odd" : "scope-even");
    c.strokeStyle = this.color(box.id === this.focused && document.activeElement === this.canvas ? "accent" : "scope-line");
    c.lineWidth = 1 / Math.max(scale, 0.5);
    c.beginPath();
    c.roundRect(box.x, box.y, box.w, box.h, 8);
    c.fill();
    c.stroke();
    if (scale < 0.25) return;
    c.fillStyle = this.color("muted");
    c.font = `600 12px ${FONT}`;
    c.textBaseline = "middle";
    c.fillText(this.cut(c, `▾ ${this.graph.scopes[-1 - box.id].name}`, box.w - 20), box.x + 10, box.y + 15);
  }

  paintBox(c, box, scale) {
    const isScope = box.id < 0;
    const node = isScope ? undefined : this.graph.nodes[box.id];
    const { share = 0, mark = "" } = this.infoOf(box.id);
    const family = isScope ? "scope" : familyOf(node.kind);
    const heat = this.colouring === "time";
    c.beginPath();
    c.roundRect(box.x, box.y, box.w, box.h, isScope ? 8 : 5);
    c.fillStyle = this.color(isScope ? "box-scope" : "box");
    c.fill();
    if (heat && share > 0) {
      c.globalAlpha = Math.min(0.9, 0.08 + 4 * share);
      c.fillStyle = this.color("heat");
      c.fill();
      c.globalAlpha = 1;
    }
    if (this.related.has(box.id)) {
      c.fillStyle = this.color("related");
      c.fill();
    }
    const strong = box.id === this.selected;
    const focus = box.id === this.focused && document.activeElement === this.canvas;
    c.strokeStyle = this.color(strong || focus ? "accent" : mark ? `mark-${mark}` : "box-line");
    c.lineWidth = (strong || focus ? 2.5 : mark ? 2 : 1) / Math.max(scale, 0.35);
    c.stroke();
    if (!heat && !isScope) {
      c.fillStyle = this.color(`family-${family}`);
      c.fillRect(box.x + 3, box.y + 6, 4, box.h - 12);
    }
    if (scale < 0.28) return;
    const [first, second] = this.textOf(box.id);
    c.textBaseline = "middle";
    c.font = `600 12px ${FONT}`;
    c.fillStyle = this.color("text");
    const head = this.cut(c, isScope ? `▸ ${first}` : first, box.w - 24);
    c.fillText(head, box.x + 12, box.y + box.h / 2 + 0.5);
    const at = c.measureText(head).width + 18;
    c.font = `12px ${FONT}`;
    c.fillStyle = this.color("muted");
    c.fillText(this.cut(c, second, box.w - at - 8), box.x + at, box.y + box.h / 2 + 0.5);
  }

  infoOf(id) {
    if (id >= 0) return this.info(id);
    const found = { share: 0, mark: "" };
    for (const node of this.graph.inside(-1 - id)) {
      const { share, mark } = this.info(node);
      found.share += share;
      found.mark ||= mark && "changed";
    }
    return found;
  }

  cut(c, text, width) {
    let short = text.slice(0, 80);
    if (c.measureText(short).width <= width && short === text) return text;
    while (short.length && c.measureText(`${short}…`).width > width) short = short.slice(0, -Math.ceil(short.length / 12));
    return short ? `${short}…` : "";
  }

  paintMap(seen) {
    const { map, place } = this;
    const limit = { w: 110, h: 150 };
    const scale = Math.min(limit.w / place.w, limit.h / place.h);
    const whole = seen.left <= 0 && seen.top <= 0 && seen.right >= place.w && seen.bottom >= place.h;
    map.hidden = whole || !Number.isFinite(scale);
    if (map.hidden) return;
    const ratio = devicePixelRatio || 1;
    const w = Math.max(24, place.w * scale), h = Math.max(24, place.h * scale);
    Object.assign(map.style, { width: `${w}px`, height: `${h}px` });
    Object.assign(map, { width: w * ratio, height: h * ratio });
    const c = map.getContext("2d");
    c.scale(ratio, ratio);
    c.fillStyle = this.color("edge");
    for (const box of place.boxes)
      if (!box.isOpen) c.fillRect(box.x * scale, box.y * scale, Math.max(1, box.w * scale), Math.max(0.5, box.h * scale));
    c.strokeStyle = this.color("accent");
    c.lineWidth = 1.5;
    const within = (value, most) => Math.min(most - 1, Math.max(1, value * scale));
    const left = within(seen.left, w), top = within(seen.top, h);
    c.strokeRect(left, top, Math.max(3, within(seen.right, w) - left), Math.max(3, within(seen.bottom, h) - top));
    this.mapScale = scale;
  }

  jump(event) {
    const { scale } = this.view;
    this.view.x = this.canvas.clientWidth / 2 - (event.offsetX / this.mapScale) * scale;
    this.view.y = this.canvas.clientHeight / 2 - (event.offsetY / this.mapScale) * scale;
    this.draw();
  }
}
