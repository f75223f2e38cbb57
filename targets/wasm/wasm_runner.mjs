// Runs a model of WebAssembly for a process on this machine. Arguments: the model's .mjs file and
// the number of threads.

import { pathToFileURL } from "node:url";

import { serve } from "./wasm_pipes.mjs";

const { load, arrayOf } = await import(pathToFileURL(process.argv[2]).href);
serve(await load(undefined, { threads: Number(process.argv[3]) }), arrayOf);
