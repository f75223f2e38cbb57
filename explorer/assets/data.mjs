// What the page holds: the table of models and compilations, and texts that are unpacked when asked for.

// The page opens while the texts behind its script are still read.
const whole = document.readyState === "loading" ? new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true })) : Promise.resolve();

async function unpacked(id) {
  const text = document.getElementById(id).textContent.trim();
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const parsed = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

/** The table, with its models and compilations made ready. */
export async function readTable() {
  const table = parsed(await unpacked("table"));
  table.models = table.models.map((one) => new ModelGraph(one));
  table.compilations = table.compilations.map((one, i) => new Compilation(one, i, table));
  return table;
}

export const chunk = (number) => whole.then(() => unpacked(`chunk-${number}`));

/** A model: `nodes` with the edges to and from them, `scopes` as a tree. */
class ModelGraph {
  constructor({ name, nodes, scopes }) {
    this.name = name;
    this.nodes = nodes.map(([name, kind, ops, types, lines], id) => ({ id, name, kind, ops, types, lines, scope: 0 }));
    this.scopes = scopes.map((one, id) => ({ ...one, id }));
    for (const scope of this.scopes)
      for (const box of scope.boxes) if (box >= 0) this.nodes[box].scope = scope.id;
  }

  /** The names of the scopes around a node, from the outside. */
  path(node) {
    const names = [];
    for (let at = this.nodes[node].scope; at > 0; at = this.scopes[at].parent) names.unshift(this.scopes[at].name);
    return names;
  }

  fullName(node) {
    return [...this.path(node), this.nodes[node].name].join("/");
  }

  /** All nodes in a scope and below. */
  inside(scope) {
    return this.scopes[scope].boxes.flatMap((box) => (box >= 0 ? [box] : this.inside(-1 - box)));
  }
}

/** A model compiled for a target. */
class Compilation {
  constructor(row, id, table) {
    Object.assign(this, row, { id, graph: table.models[row.model] });
    const several = table.models.length > 1;
    this.label = several ? `${this.graph.name}, ${this.target}` : this.target;
    this.kernels.forEach((kernel, at) => Object.assign(kernel, { at, of: this, total: kernel.calls * (kernel.microseconds ?? 0) }));
    this.ofNode = new Map();
    for (const kernel of this.kernels)
      for (const node of kernel.nodes) {
        if (!this.ofNode.has(node)) this.ofNode.set(node, []);
        this.ofNode.get(node).push(kernel);
      }
    this.texts = [];
  }

  /** The stages of a part, each with its text in lines; the code is the last of them. */
  async text(part) {
    this.texts[part] ??= chunk(this.parts[part].text).then((bytes) => new Texts(parsed(bytes)));
    return this.texts[part];
  }

  /** What a kernel may take at least by its operations, or by its bytes, on so many cores. */
  roof(kernel) {
    return kernel.roofline?.microseconds ?? null;
  }
}

/** The text of all stages of a part: which lines became which. */
class Texts {
  constructor({ stages, code }) {
    this.stages = [...stages, ...(code ? [{ ...code, isCode: true }] : [])].map((one) => new StageText(one));
  }

  at(name) {
    return this.stages.findIndex((one) => one.name === name);
  }

  /**
   * For each stage the lines that have to do with some lines of one: what these came from, and what
   * became of them.
   */
  linked(stage, lines) {
    const found = this.stages.map(() => new Set());
    lines.forEach((line) => found[stage].add(line));
    for (let at = stage; at > 0; at--)
      for (const line of found[at]) this.stages[at].parentsOf(line).forEach((one) => found[at - 1].add(one));
    for (let at = stage; at + 1 < this.stages.length; at++)
      for (const line of found[at]) this.stages[at + 1].childrenOf(line).forEach((one) => found[at + 1].add(one));
    return found;
  }

  /** The same of a node's lines in the first stage. */
  ofNode(node) {
    return this.linked(0, node.lines);
  }
}

class StageText {
  #children;

  constructor({ name, text, parents, functions, isCode = false }) {
    Object.assign(this, { name, isCode, lines: text.split("\n"), parents, functions });
  }

  parentsOf(line) {
    const found = this.parents[line];
    return found === undefined || found === -1 ? [] : Array.isArray(found) ? found : [found];
  }

  childrenOf(line) {
    if (!this.#children) {
      this.#children = new Map();
      this.parents.forEach((_, child) => {
        for (const parent of this.parentsOf(child)) {
          if (!this.#children.has(parent)) this.#children.set(parent, []);
          this.#children.get(parent).push(child);
        }
      });
    }
    return this.#children.get(line) ?? [];
  }

  /** The lines of a kernel: its function, those that were cut out of it, and what hands those to threads. */
  ofKernel(name) {
    const mine = Object.entries(this.functions).filter(([one]) =>
      one === name || (one.startsWith(name) && /^(_parallel_|\.|_\d+$)/.test(one.slice(name.length))));
    const rank = (one) => (one === name ? 0 : one.endsWith(".task") ? 2 : 1);
    return mine.sort(([a, x], [b, y]) => rank(a) - rank(b) || x[0] - y[0]).map(([, range]) => range);
  }

  /** The definitions of the names that such lines use, as `#map3`. */
  aliases(lines) {
    this.defined ??= new Map(this.lines.flatMap((text, line) => {
      const found = /^(#\w+) = /.exec(text);
      return found ? [[found[1], line]] : [];
    }));
    if (!this.defined.size) return [];
    const used = new Set();
    for (const line of lines)
      for (const name of this.lines[line].match(/#\w+/g) ?? []) if (this.defined.has(name)) used.add(this.defined.get(name));
    return [...used].sort((a, b) => a - b);
  }
}
