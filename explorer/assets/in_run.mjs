// Times kernels where they stand in a run of the model: behind the calls that come before them, whose
// results they find in caches, with the model's layout of memory, and with weights that are not there.

const BEFORE = 64 << 20; // bytes of arguments of the calls before one: more than caches hold
const RING = 256 << 20; // bytes of weights at most; further calls take the same ones again
const DATA = { f32: Float32Array, f64: Float64Array, f16: Uint16Array, bf16: Uint16Array, bytes: Uint8Array, zeros: Uint8Array };
const SMALL = 1e-20; // arithmetic may be slow with numbers of less than 1e-38, which these make
const SAMPLES = 8; // elements of a buffer that are looked at
const WARM_RUNS = 1000, LONGEST_WARM_RUNS = 4000; // milliseconds until the engine's code is its best
const BLOCKS = 9;
const EXACT = 0.02, INEXACT = 0.08; // parts of a time that the clock's steps may hide: enough, and too much
const SHORTEST = 5e-4; // milliseconds: the clock itself takes about a tenth of it
const ENOUGH = 0.5; // the part of the time that runs take at least: machines are faster and slower by turns
const TURN = 2; // milliseconds that a sample takes at least: short models run several times
const BREATH = 40; // milliseconds between two times that the page may draw

export const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

/** The milliseconds of a step of this browser's clock. */
function clockStep() {
  let least = Infinity;
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    let now = start;
    while (now === start) now = performance.now();
    least = Math.min(least, now - start);
  }
  return least;
}

// Of a compilation's calls those of some kernels, and before each as many as fill the caches: a run
// begins again behind its end.
function neighbourhood(calls, wanted) {
  const taken = new Set();
  calls.forEach(({ kernel }, at) => {
    if (!wanted.has(kernel)) return;
    let bytes = 0;
    for (let i = 0; i < calls.length && (!i || bytes < BEFORE); i++) {
      const number = (at - i + calls.length) % calls.length;
      taken.add(number);
      if (i) bytes += calls[number].kernel.arguments.reduce((sum, [, size]) => sum + size, 0);
    }
  });
  return calls.filter((_, at) => taken.has(at));
}

/** Random data, whose numbers are as large as `scale` at most. */
export function fill(buffer, address, bytes, kind, scale = 1) {
  const all = new DATA[kind](buffer, address, Math.floor(bytes / DATA[kind].BYTES_PER_ELEMENT));
  const draw = {
    f32: () => scale * (2 * Math.random() - 1), f64: () => scale * (2 * Math.random() - 1),
    f16: () => (scale < 1 ? 0x2800 : 0x3400) + 0x7ff * Math.random(), bf16: () => (scale < 1 ? 0x3d00 : 0x3e80) + 0xff * Math.random(),
    bytes: () => 128 * Math.random(), zeros: () => 0,
  }[kind];
  const first = Math.min(all.length, 1 << 18); // the rest is the same again
  for (let i = 0; i < first; i++) all[i] = draw();
  for (let i = first; i < all.length; i += first) all.copyWithin(i, 0, Math.min(first, all.length - i));
}

// Whether a number is so small that arithmetic with it may be slow; infinities and NaN are not.
function isStray(value, kind) {
  if (kind === "bytes" || value === 0) return false;
  if (kind === "f16") return (value & 0x7c00) === 0 && (value & 0x3ff) !== 0;
  if (kind === "bf16") return (value & 0x7f80) < 0x1e00 && (value & 0x7fff) !== 0;
  return Math.abs(value) < SMALL;
}

/** Memory for calls as the model has it: activations where its plan puts them, weights one behind the other. */
class Memory {
  constructor(calls, take, buffer) {
    this.buffer = buffer;
    const sizes = new Map(), weights = new Map();
    for (const { kernel, places } of calls)
      kernel.arguments.forEach(([, bytes, kind, isWeight], i) => {
        const [block, offset] = places[i];
        if (isWeight) {
          const { all, largest } = weights.get(kind) ?? { all: 0, largest: 0 };
          weights.set(kind, { all: all + rounded(bytes), largest: Math.max(largest, rounded(bytes)) });
        } else sizes.set(block, Math.max(sizes.get(block) ?? 0, offset + bytes));
      });
    this.blocks = new Map([...sizes].map(([block, bytes]) => [block, take(bytes)]));
    this.rings = new Map([...weights].map(([kind, { all, largest }]) => {
      const bytes = Math.max(largest, Math.min(all, RING));
      return [kind, { start: take(bytes), bytes, used: 0 }];
    }));
    this.weights = new Map();
    for (const [kind, { start, bytes }] of this.rings) fill(buffer(), start, bytes, kind, 0.1);
  }

  /** The address of an argument of a call. */
  address([, bytes, kind, isWeight], [block, offset]) {
    if (!isWeight) return this.blocks.get(block) + offset;
    const name = `${block}+${offset}`;
    if (!this.weights.has(name)) {
      const ring = this.rings.get(kind);
      if (ring.used + bytes > ring.bytes) ring.used = 0;
      this.weights.set(name, ring.start + ring.used);
      ring.used += rounded(bytes);
    }
    return this.weights.get(name);
  }
}

const rounded = (bytes) => (bytes + 63) & ~63;

// A call that can be made, and what has to be in order behind it.
class Step {
  constructor({ kernel, places }, code, memory) {
    this.kernel = kernel;
    this.buffer = memory.buffer;
    const addresses = kernel.arguments.map((argument, i) => memory.address(argument, places[i]));
    const run = code[kernel.kernel], list = kernel.pool ? [...addresses, 0] : addresses;
    this.run = () => run(...list);
    this.activations = kernel.arguments.flatMap(([, bytes, kind, isWeight], i) => (isWeight || !bytes ? [] : [{ address: addresses[i], bytes, kind }]));
  }

  /** Sets indices to 0 in front of the call, and at first all else to random data. */
  prepare(isFirst) {
    for (const { address, bytes, kind } of this.activations)
      if (kind === "zeros") new Uint8Array(this.buffer(), address, bytes).fill(0);
      else if (isFirst) fill(this.buffer(), address, bytes, kind);
  }

  /**
   * Puts random data in the place of numbers that have become too small: the weights are random, and so
   * results grow or shrink from kernel to kernel.
   */
  mend() {
    for (const one of this.activations) if (one.kind !== "zeros") this.renew(one);
  }

  renew({ address, bytes, kind }) {
    const all = new DATA[kind](this.buffer(), address, Math.floor(bytes / DATA[kind].BYTES_PER_ELEMENT));
    const by = Math.max(1, Math.floor(all.length / SAMPLES));
    for (let i = 0; i < all.length; i += by)
      if (isStray(all[i], kind)) return fill(this.buffer(), address, bytes, kind);
  }
}

/** Runs of the calls near some kernels. */
class Runs {
  constructor(steps, wanted) {
    this.steps = steps;
    this.counts = new Map();
    for (const { kernel } of steps) if (wanted.has(kernel)) this.counts.set(kernel, (this.counts.get(kernel) ?? 0) + 1);
  }

  /** The milliseconds of a call of each kernel, over so many runs. */
  async sample(runs, isFirst = false) {
    const took = new Map([...this.counts.keys()].map((kernel) => [kernel, 0]));
    let since = performance.now();
    for (let i = 0; i < runs; i++)
      for (const step of this.steps) {
        step.prepare(isFirst);
        const start = performance.now();
        step.run();
        const end = performance.now();
        if (took.has(step.kernel)) took.set(step.kernel, took.get(step.kernel) + (end - start));
        step.mend();
        if (end - since > BREATH) {
          await pause();
          since = performance.now();
        }
      }
    for (const [kernel, sum] of took) took.set(kernel, sum / this.counts.get(kernel) / runs);
    return took;
  }

  /** Runs until the engine's code is its best, as far as times tell; returns how many make a sample. */
  async warm() {
    const began = performance.now();
    let best = Infinity;
    for (let i = 0; ; i++) {
      const start = performance.now();
      await this.sample(1, !i);
      const end = performance.now(), each = end - start;
      if (i && (end - began > LONGEST_WARM_RUNS || (end - began > WARM_RUNS && each > 0.97 * best))) return Math.max(1, Math.ceil(TURN / Math.max(best, each, 1e-3)));
      best = Math.min(best, each);
      await pause();
    }
  }

  /** Samples until the steps of the clock are nothing beside each kernel, or the time is over. */
  async samples(seconds) {
    const runs = await this.warm(), step = clockStep(), began = performance.now(), found = [];
    const sums = new Map([...this.counts.keys()].map((kernel) => [kernel, 0]));
    // A time between two readings of a clock with such steps is off by 0.41 of one (root of the mean square) at most.
    const hidden = (kernel) => (0.41 * step) / Math.sqrt(found.length * runs * this.counts.get(kernel)) / (sums.get(kernel) / found.length || 1e-9);
    for (;;) {
      const one = await this.sample(runs);
      found.push(one);
      for (const [kernel, time] of one) sums.set(kernel, sums.get(kernel) + time);
      const spent = performance.now() - began;
      const isEnough = spent > 1e3 * ENOUGH * seconds && found.length >= BLOCKS && [...sums.keys()].every((kernel) => hidden(kernel) < EXACT);
      if (isEnough || (spent > 1e3 * seconds && found.length >= 3)) break;
      if (found.length % 16 === 0) await pause();
    }
    const exact = [...sums.keys()].filter((kernel) => hidden(kernel) < INEXACT && sums.get(kernel) / found.length > SHORTEST);
    return new Map(exact.map((kernel) => [kernel, { ...blocks(found.map((one) => 1e3 * one.get(kernel)), 1e3 * step), calls: found.length * runs * this.counts.get(kernel) }]));
  }
}

/**
 * Median, smallest and largest mean of blocks of samples that follow each other, without those in
 * which something else had the processor. A median of samples would be a step of the clock.
 */
function blocks(samples, step) {
  const most = 1.5 * [...samples].sort((a, b) => a - b)[samples.length >> 1] + 2 * step;
  const kept = samples.filter((one) => one <= most);
  const count = Math.min(BLOCKS, kept.length);
  const means = Array.from({ length: count }, (_, i) => {
    const part = kept.slice(Math.floor((i * kept.length) / count), Math.floor(((i + 1) * kept.length) / count));
    return part.reduce((sum, one) => sum + one, 0) / part.length;
  }).sort((a, b) => a - b);
  return { median: means[count >> 1], low: means[0], high: means.at(-1) };
}

/**
 * What calls of some kernels take in runs of their model, on one thread: a map from those of which this
 * browser's clock tells it to { median, low, high, calls }, in microseconds of a call.
 *
 * `calls` are the model's in order, { kernel, places }, `code` has its kernels by name, `take` gives
 * memory, and `buffer` is what that is now; it goes on for half of `seconds`, and for all of them where a
 * kernel is short beside the steps of the clock.
 */
export async function timesInRun({ calls, wanted, code, take, buffer, seconds }) {
  const near = neighbourhood(calls, wanted);
  if (!near.length) return new Map();
  const memory = new Memory(near, take, buffer);
  return new Runs(near.map((call) => new Step(call, code, memory)), wanted).samples(seconds);
}
