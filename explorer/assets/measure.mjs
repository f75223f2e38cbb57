// Times kernels on the machine that shows the page, and finds what that machine can do at most.

import { chunk, chunkOf } from "./data.mjs";
import { fill, pause, timesInRun } from "./in_run.mjs";
import { gpuLimits, openKernels } from "./gpu.mjs";
import { mathematics } from "../../targets/wasm/mathematics.mjs";

const PAGES = 1024; // of memory at first; it grows
const MOST_PAGES = 65536;
const WEIGHTS = 128 << 20; // bytes of weights that are walked through at most
const MOST_COPIES = 64;
const BATCH = 25; // milliseconds
const BATCHES = 9;
const WARM = 60, LONGEST_WARM = 600; // milliseconds until the engine's code is its best
const LONGEST = 3, LONGEST_OF_ALL = 10; // seconds of runs for one kernel, and for several at once
const LEVELS = [[32 << 10, 16 << 10], [512 << 10, 256 << 10], [8 << 20, 4 << 20], [Infinity, 64 << 20]];
const KINDS = ["L1 cache", "L2 cache", "L3 cache", "memory"];
const STEP = 32; // elements that the reading loop loads at once

// A module with its memory; of kernels on a GPU, also the device that they are launched on.
async function instance(number, about = null) {
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: MOST_PAGES });
  const device = about === null ? null : await openKernels(memory, await chunkOf(about));
  const imports = device?.imports() ?? {};
  const env = { ...mathematics(), memory, sleeps: () => 0, spawn: () => 1, ...imports };
  const { instance: made } = await WebAssembly.instantiate(await chunk(number), { env });
  return { code: made.exports, memory, device, imports };
}

function allocate({ code }, bytes) {
  const address = code.nnc_allocate(Math.max(bytes, 64)) >>> 0;
  if (!address) throw new RangeError(`this browser has no memory for ${(bytes / 1e6).toFixed(0)} MB more`);
  return address;
}

// What `act(take)` finds with memory that `take` gives, which is given back behind it.
async function withMemory(made, act) {
  const blocks = [];
  const take = (bytes) => {
    blocks.push(allocate(made, bytes));
    return blocks.at(-1);
  };
  try {
    return await act(take);
  } finally {
    blocks.forEach((address) => made.code.nnc_free(address));
  }
}

/**
 * Median, smallest and largest microseconds of a call; yields to the page between batches. A call may
 * only begin something: `settle` waits until all that was begun is done, once for a batch.
 */
async function timed(call, batches = BATCHES, settle = null) {
  const run = async (count) => {
    const start = performance.now();
    for (let i = 0; i < count; i++) call(i);
    if (settle) await settle();
    return (performance.now() - start) / count;
  };
  let count = 1, each = await run(1), last = Infinity;
  for (let spent = each; spent < WARM || (spent < LONGEST_WARM && each < 0.97 * last); ) {
    last = each;
    if (each * count < 5) count *= 2;
    each = await run(count);
    spent += each * count;
    await pause();
  }
  count = Math.max(1, Math.ceil(BATCH / Math.max(each, 1e-5)));
  const samples = [];
  for (let i = 0; i < batches; i++) {
    samples.push(1e3 * (await run(count)));
    await pause();
  }
  samples.sort((a, b) => a - b);
  return { median: samples[samples.length >> 1], low: samples[0], high: samples.at(-1), calls: count * batches };
}

export class Meter {
  constructor(table) {
    this.table = table;
    this.instances = new Map();
    this.found = new Map();
    this.queue = Promise.resolve();
  }

  /** Why a kernel cannot be timed here; empty where it can. */
  obstacle(kernel) {
    const { trial } = kernel.of.parts[kernel.part];
    if (trial === null) return this.table.notes[0] ?? "a page runs no code for this target: choose the compilation for WebAssembly";
    if (this.engineOf(kernel.of) === "gpu" && !globalThis.navigator?.gpu) return "this browser has no WebGPU";
    if (kernel.on_host) return `the host computes it: ${kernel.on_host}`;
    if (kernel.arguments === null) return "its extents are open: fix them with --shape";
    if (kernel.pool === null) return "it takes more than buffers";
    return "";
  }

  /** What runs a compilation's kernels here: "wasm", "gpu", or nothing. */
  engineOf({ parts }) {
    const part = parts.find(({ trial }) => trial !== null);
    return part ? (part.device === null ? "wasm" : "gpu") : "";
  }

  /** One thing at a time: times are disturbed by one another. */
  alone(work) {
    const done = this.queue.then(work);
    this.queue = done.catch(() => {});
    return done;
  }

  /** What this machine can do at most, on one thread or on its GPU: { gflops, levels: [[bytes, GB/s, name]], launch }. */
  limits(engine) {
    if (!this.found.has(engine)) this.found.set(engine, this.alone(() => (engine === "gpu" ? gpuLimits(timed) : this.findLimits())));
    return this.found.get(engine);
  }

  async findLimits() {
    const { arithmetic, reading, operations, elements } = this.table.probes;
    const one = await instance(arithmetic);
    const sum = await timed(this.program(one, 64), 5);
    const found = { gflops: operations / sum.low / 1e3, levels: [] };
    const two = await instance(reading);
    const most = LEVELS.at(-1)[1];
    const data = allocate(two, most);
    new Float32Array(two.memory.buffer, data, most >> 2).fill(1);
    for (const [i, [bytes, size]] of LEVELS.entries()) {
      const count = Math.floor(size / 4 / STEP) * STEP;
      const passes = Math.max(1, Math.floor(elements / count));
      const { low } = await timed(this.program(two, count, data), 5);
      found.levels.push([bytes, (4 * count * passes) / low / 1e3, KINDS[i]]);
    }
    return found;
  }

  // Calls of a program with one input of so many floats.
  program(made, count, data = allocate(made, 4 * count)) {
    const output = allocate(made, 1024), shapes = allocate(made, 64), tensors = allocate(made, 64);
    new BigInt64Array(made.memory.buffer, shapes, 2).set([BigInt(count), 4n]);
    new Uint32Array(made.memory.buffer, tensors, 4).set([data, shapes, output, shapes + 8]);
    return () => made.code.nnc_run(tensors, tensors + 8, 0, 0, 0);
  }

  /**
   * What calls of kernels of one compilation take here: `tell(kernel, time)` hears the { median, low,
   * high } in microseconds of each, or a { state }. WebAssembly is timed in runs of the model. `alone`
   * is set in the times of kernels that are too short for that: they are called over and over.
   */
  times(kernels, tell) {
    return this.alone(async () => {
      for (const part of new Set(kernels.map((one) => one.part))) await this.timesOfPart(kernels.filter((one) => one.part === part), tell);
    });
  }

  async timesOfPart(kernels, tell) {
    const [{ of, part }] = kernels;
    const { trial, device } = of.parts[part];
    if (!this.instances.has(trial)) this.instances.set(trial, await instance(trial, device));
    const made = this.instances.get(trial);
    kernels.forEach((one) => tell(one, { state: "measuring" }));
    const inRun = made.device ? new Map() : await this.timesInRun(made, of, part, kernels).catch(() => new Map());
    inRun.forEach((time, kernel) => tell(kernel, time));
    for (const kernel of kernels) {
      if (inRun.has(kernel)) continue;
      const time = made.device ? this.timeOnDevice(made, kernel) : this.timeAlone(made, kernel);
      await time.then((found) => tell(kernel, found), (error) => tell(kernel, { state: `failed: ${error.message}` }));
    }
  }

  /** The times of those kernels of a part that are long enough, see in_run.mjs. */
  timesInRun(made, of, part, kernels) {
    const named = new Map(of.kernels.filter((one) => one.part === part && !this.obstacle(one)).map((one) => [one.kernel, one]));
    const calls = of.parts[part].calls.flatMap(([name, ...numbers]) => {
      if (!named.has(name)) return [];
      return [{ kernel: named.get(name), places: Array.from({ length: numbers.length / 2 }, (_, i) => numbers.slice(2 * i, 2 * i + 2)) }];
    });
    const seconds = kernels.length > 1 ? LONGEST_OF_ALL : LONGEST;
    return withMemory(made, (take) => timesInRun({ calls, wanted: new Set(kernels), code: made.code, take, buffer: () => made.memory.buffer, seconds }));
  }

  // By batches of calls. The weights are as many copies as there are of the whole model's, since a
  // run of that finds them as far away.
  timeAlone(made, kernel) {
    const copy = (to, from, bytes) => new Uint8Array(made.memory.buffer).copyWithin(to, from, from + bytes);
    const fillHere = (address, bytes, kind) => fill(made.memory.buffer, address, bytes, kind);
    return withMemory(made, async (take) => ({ ...(await timed(this.call(made, kernel, take, fillHere, copy))), alone: true }));
  }

  // By when the queue has done a batch: launches alone tell nothing.
  async timeOnDevice(made, kernel) {
    const { device, imports: { nnc_device_take: take, nnc_device_copy: copy } } = made;
    const fillThere = (address, bytes, kind) => {
      const here = allocate(made, bytes);
      fill(made.memory.buffer, here, bytes, kind);
      copy(address, here, bytes, 0);
      made.code.nnc_free(here);
    };
    device.begin();
    let found, failed;
    try {
      found = await timed(this.call(made, kernel, take, fillThere, (to, from, bytes) => copy(to, from, bytes, 2)), BATCHES, () => device.settle());
    } catch (error) {
      failed = error;
    }
    await device.end();
    if (failed) throw failed;
    return found;
  }

  call(made, kernel, take, fillWith, copyOf) {
    const weights = kernel.arguments.reduce((sum, [, bytes, , isWeight]) => sum + isWeight * bytes, 0);
    const all = kernel.of.kernels.reduce((sum, one) => sum + one.calls * (one.arguments ?? []).reduce((part, [, bytes, , isWeight]) => part + isWeight * bytes, 0), 0);
    const copies = weights ? Math.max(1, Math.min(MOST_COPIES, Math.floor(Math.min(all, WEIGHTS) / weights))) : 1;
    const first = kernel.arguments.map(([, bytes, kind]) => {
      const address = take(bytes);
      fillWith(address, bytes, kind);
      return address;
    });
    const lists = Array.from({ length: copies }, (_, number) => kernel.arguments.map(([, bytes, , isWeight], i) => {
      if (!number || !isWeight) return first[i];
      const address = take(bytes);
      copyOf(address, first[i], bytes);
      return address;
    }));
    if (kernel.pool) lists.forEach((list) => list.push(0));
    const run = made.code[kernel.kernel];
    return (i) => run(...lists[i % copies]);
  }
}

/** The least microseconds that a machine takes for operations and bytes, and by which. */
export function leastTime(limits, { operations, bytes }) {
  if (operations === null || bytes === null) return null;
  const level = limits.levels.find(([size]) => bytes <= (size ?? Infinity)) ?? limits.levels.at(-1);
  const terms = [[operations / limits.gflops / 1e3, "arithmetic"], [bytes / level[1] / 1e3, level[2]], [limits.launch ?? 0, "the launch"]];
  const [microseconds, by] = terms.reduce((most, one) => (one[0] > most[0] ? one : most));
  return { microseconds, by };
}
