// What a process in an engine says to the one that started it: the other end of `emulated.py`, which
// speaks as `runner.c` says.

import { readSync, writeSync } from "node:fs";

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

export function receive(bytes) {
  const made = new Uint8Array(bytes);
  for (let done = 0; done < bytes; ) {
    const more = patiently(() => readSync(0, made, done, bytes - done));
    if (!more) process.exit(0);
    done += more;
  }
  return made;
}

export function answer(array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let done = 0; done < bytes.length; ) done += patiently(() => writeSync(1, bytes, done));
}

export const numbers = (count) => Array.from(new BigInt64Array(receive(8 * count).buffer), Number);
export const send = (...values) => answer(BigInt64Array.from(values, BigInt));

// A tensor's extents, where they are known, and the bytes that those take.
function receiveKind() {
  const [rank, bytes, known] = numbers(3);
  const dims = known ? numbers(rank) : undefined;
  return { dims, bytes: dims?.reduce((size, extent) => size * extent, bytes) };
}

// The inputs of a call by name, behind how many inputs and outputs it has.
function receiveInputs(model, arrayOf, inputs, outputs) {
  const given = {};
  for (let i = 0; i < inputs; i++) {
    const { dims, bytes } = receiveKind();
    const input = model.inputs[i];
    given[input.name] = { data: new (arrayOf(input))(receive(bytes).buffer), dims };
  }
  for (let i = 0; i < outputs; i++) receiveKind();
  return given;
}

export const receiveCall = (model, arrayOf) => receiveInputs(model, arrayOf, ...numbers(2));

// What a run gives, behind its status; nothing where it failed as the model says.
export function attempted(run) {
  let made;
  try {
    made = run();
  } catch (error) {
    if (!error.status) throw error;
    send(error.status);
    return undefined;
  }
  send(0);
  return made;
}

export function sendOutputs(model, made) {
  for (const { name } of model.outputs) {
    send(...made[name].dims);
    answer(made[name].data);
  }
}

// Runs a model whenever it is asked to. A negative number in place of the count of inputs asks for
// another of `commands`.
export function serve(model, arrayOf, commands = {}) {
  send(0);
  for (;;) {
    const [inputs, outputs] = numbers(2);
    if (inputs < 0) {
      commands[inputs](outputs);
      continue;
    }
    const given = receiveInputs(model, arrayOf, inputs, outputs);
    const made = attempted(() => model.runSync(given));
    if (made) sendOutputs(model, made);
  }
}
