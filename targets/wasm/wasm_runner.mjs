// Runs a model of WebAssembly for a process on this machine, or runs it again and again on the same
// inputs and tells what the code took. Arguments: the model's .mjs file and the number of threads.

import { pathToFileURL } from "node:url";

import { attempted, receiveCall, send, sendOutputs, serve } from "./wasm_pipes.mjs";

const [PLACE, RUN, TAKE] = [-1, -2, -3]; // as in in_engine.py

const { load, arrayOf } = await import(pathToFileURL(process.argv[2]).href);
const model = await load(undefined, { threads: Number(process.argv[3]) });

let timer;
function place() {
  timer = model.timer(receiveCall(model, arrayOf));
  send(0);
}

function run() {
  const took = attempted(timer);
  if (took !== undefined) send(Math.round(took * 1e6));
}

serve(model, arrayOf, { [PLACE]: place, [RUN]: run, [TAKE]: () => sendOutputs(model, timer.outputs()) });
