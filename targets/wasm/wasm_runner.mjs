// Runs a model of WebAssembly for a process on this machine: the other end of `emulated.py`, which
// speaks as `runner.c` says. Arguments: the model's .mjs file and the number of threads.

import { readSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const clock = new Int32Array(new SharedArrayBuffer(4));

// What a call gives, again after a millisecond while a pipe is empty or full: Node may have made
// the pipes such that they do not wait themselves.
function patiently(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(clock, 0, 0, 1);
    }
  }
}

function receive(bytes) {
  const made = new Uint8Array(bytes);
  for (let done = 0; done < bytes; ) {
    const more = patiently(() => readSync(0, made, done, bytes - done));
    if (!more) process.exit(0);
    done += more;
  }
  return made;
}

function answer(array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let done = 0; done < bytes.length; ) done += patiently(() => writeSync(1, bytes, done));
}

const numbers = (count) => Array.from(new BigInt64Array(receive(8 * count).buffer), Number);
const send = (...values) => answer(BigInt64Array.from(values, BigInt));

// A tensor's extents, where they are known, and the bytes that those take.
function receiveKind() {
  const [rank, bytes, known] = numbers(3);
  const dims = known ? numbers(rank) : undefined;
  return { dims, bytes: dims?.reduce((size, extent) => size * extent, bytes) };
}

const { load, arrayOf } = await import(pathToFileURL(process.argv[2]).href);
const model = await load(undefined, { threads: Number(process.argv[3]) });
send(0);
for (;;) {
  const [inputs, outputs] = numbers(2);
  const given = {};
  for (let i = 0; i < inputs; i++) {
    const { dims, bytes } = receiveKind();
    const input = model.inputs[i];
    given[input.name] = { data: new (arrayOf(input))(receive(bytes).buffer), dims };
  }
  for (let i = 0; i < outputs; i++) receiveKind();
  let made;
  try {
    made = model.runSync(given);
  } catch (error) {
    if (!error.status) throw error;
    send(error.status);
    continue;
  }
  send(0);
  for (const { name } of model.outputs) {
    send(...made[name].dims);
    answer(made[name].data);
  }
}
