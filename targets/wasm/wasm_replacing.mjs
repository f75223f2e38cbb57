// Runs a model of WebAssembly whose kernels are called through a table, for a process on this
// machine that fills the rows of that table anew: see `replacing.py`. Arguments: the model's .mjs
// file and the number of its kernels.

import { pathToFileURL } from "node:url";

import { answer, numbers, receive, send, serve } from "./wasm_pipes.mjs";

const ENTRIES = 1 << 14; // of the engine's table, for functions whose address candidates take
const POISON = 0xff; // of bytes of results before they are made: NaN of all floats
const [PLACE, LOAD, USE, COMPARE] = [-1, -2, -3, -4];
const [AT, DIFFERS] = [-1, -2]; // before a run's status: a candidate is called; a result of it differs

// The model's own instance, as its loader makes it.
let code, env;
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (module, imports) => {
  const made = await instantiate(module, imports);
  [code, env] = [made.exports, imports.env];
  return made;
};
const { load, arrayOf } = await import(pathToFileURL(process.argv[2]).href);
const model = await load(undefined, { threads: 1 });

const { memory } = env;
const table = code.__indirect_function_table;
const kernels = Number(process.argv[3]);
const base = table.grow(ENTRIES);

// The number by which code in WebAssembly calls a function.
function numberOf(wasmFunction) {
  const number = table.grow(1);
  table.set(number, wasmFunction);
  return number;
}

const defaults = Array.from({ length: kernels }, (_, i) => numberOf(code[`nnc_kernel_${i}`]));
const parallelFor = code.nnc_parallel_for ? numberOf(code.nnc_parallel_for) : 0;

function fill(rows) {
  const all = new Uint32Array(memory.buffer, code.nnc_kernels.value, kernels);
  all.set(defaults);
  for (const [row, number] of rows) all[row] = number;
}
fill([]);

// -- candidates ------------------------------------------------------------------------------------

const region = { at: 0, bytes: 0 }; // of memory, for what modules of candidates keep there
let loaded = []; // the functions of the last such module, as numbers

// Where a module may have so many bytes, and functions in the table.
function place(bytes) {
  if (bytes > region.bytes) {
    if (region.at) code.nnc_free(region.at);
    const at = code.nnc_allocate(bytes) >>> 0;
    Object.assign(region, { at, bytes: at ? bytes : 0 });
  }
  send(region.at, region.bytes, base);
}

// What candidates import; the runtime's `free` is exported by another name. A pool of threads that
// one brings along asks the system for more, but is never started on one thread.
const known = { ...env, ...code, free: code.nnc_free, memory, __indirect_function_table: table };
const absent = (name) => () => {
  throw new Error(`a candidate calls '${name}', which the engine does not have`);
};
const given = new Proxy(known, { get: (all, name) => all[name] ?? absent(name) });

// A module for that place, and the tag of each candidate in it.
function loadModule(count) {
  const [size] = numbers(1);
  const module = new WebAssembly.Module(receive(size));
  const tags = numbers(count);
  new Uint8Array(memory.buffer, region.at, region.bytes).fill(0);
  const made = new WebAssembly.Instance(module, { env: given }).exports;
  tags.forEach((tag, i) => {
    const needs = made[`nnc_candidate_${tag}_needs`].value;
    new Uint32Array(memory.buffer, needs, 2).set([0, parallelFor]);
    const candidate = made[`nnc_candidate_${tag}`];
    if (i < loaded.length) table.set(loaded[i], candidate);
    else loaded.push(numberOf(candidate));
  });
  send(...loaded.slice(0, count));
}

const use = (count) => fill(Array.from({ length: count }, () => numbers(2)));

// -- comparing -------------------------------------------------------------------------------------

// A function of JavaScript as one that code in WebAssembly can call by number.
function callable(made, parameters, returns) {
  const types = [1, 0x60, parameters, ...Array(parameters).fill(0x7f), returns, ...Array(returns).fill(0x7f)];
  const section = (id, bytes) => [id, bytes.length, ...bytes];
  const bytes = Uint8Array.of(
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(2, [1, 1, 0x65, 1, 0x66, 0, 0]), // (import "e" "f" (func 0))
    ...section(7, [1, 1, 0x66, 0, 0]), // (export "f" (func 0))
  );
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { e: { f: made } }).exports.f;
}

const isApart = (one, other) => one.at + one.bytes <= other.at || other.at + other.bytes <= one.at;

// What calls two forms of a kernel at each call. What the first one makes is what the model goes on
// with; results of the other one that differ are sent.
function comparison(which, first, second, buffers) {
  return (...given) => {
    const places = buffers.map((one, i) => ({ ...one, at: given[i] >>> 0, i }));
    const made = places.filter(({ written }) => written);
    const alone = made.filter((one) => places.every((other) => other === one || isApart(one, other)));
    const bytesOf = ({ at, bytes }) => new Uint8Array(memory.buffer, at, bytes);
    const copies = () => made.map((one) => bytesOf(one).slice());
    const restore = (from) => made.forEach((one, i) => bytesOf(one).set(from[i]));
    const poison = () => alone.forEach((one) => bytesOf(one).fill(POISON));
    const saved = copies();
    poison();
    const result = table.get(first)(...given);
    const wanted = copies();
    restore(saved);
    poison();
    send(AT, which);
    table.get(second)(...given);
    const found = copies();
    made.forEach(({ i }, k) => {
      if (!Buffer.compare(wanted[k], found[k])) return;
      send(DIFFERS, which, i);
      answer(wanted[k]);
      answer(found[k]);
    });
    restore(wanted);
    return result;
  };
}

let compared = []; // the numbers of such functions

// Of each kernel: its row, the candidate's number, how many values it takes, whether it gives one,
// how many of the values are buffers; of each buffer its bytes and whether it is written.
function compare(count) {
  const rows = [];
  for (let k = 0; k < count; k++) {
    const [row, candidate, parameters, returns, length] = numbers(5);
    const buffers = Array.from({ length }, () => {
      const [bytes, written] = numbers(2);
      return { bytes, written };
    });
    const made = comparison(k, defaults[row], candidate || defaults[row], buffers);
    const entry = callable(made, parameters, returns);
    if (k < compared.length) table.set(compared[k], entry);
    else compared.push(numberOf(entry));
    rows.push([row, compared[k]]);
  }
  fill(rows);
}

serve(model, arrayOf, { [PLACE]: place, [LOAD]: loadModule, [USE]: use, [COMPARE]: compare });
