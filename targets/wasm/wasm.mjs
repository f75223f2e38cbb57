// Loads and runs the model that belongs to this file, in browsers, workers and Node:
//
//     const model = await load();
//     const { y } = await model.run({ x: new Float32Array(150528) });
//     y.data, y.dims
//
// Nothing here depends on the model but `MODEL`.

const MODEL = "MODEL";

const STACK = 1 << 20; // bytes, of each further thread

// -- what the engine has ---------------------------------------------------------------------------

// For each feature that a target needs, the body of a function that uses it.
const PROBES = {
  "128-bit vectors (SIMD)": [0x41, 0, 0xfd, 0x0f, 0x1a],
  "relaxed vectors (relaxed SIMD)": [0x41, 0, 0xfd, 0x0f, 0x41, 0, 0xfd, 0x0f, 0xfd, 0x80, 2, 0x1a],
};

function validates(body) {
  const code = [1, body.length + 2, 0, ...body, 0x0b];
  const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0];
  return WebAssembly.validate(Uint8Array.of(...head, 0x0a, code.length, ...code));
}

function checkEngine() {
  for (const feature of MODEL.features)
    if (!validates(PROBES[feature]))
      throw new Error(
        `${MODEL.name}: this engine has no ${feature}, which target '${MODEL.target}' needs; ` +
          "an older one runs what is compiled with --target wasm32",
      );
}

// Whether this thread may sleep: that of a page may not.
function maySleep() {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
    return true;
  } catch {
    return false;
  }
}

// Why there is no second thread here; nothing where there may be.
function noThreads() {
  if (typeof SharedArrayBuffer !== "undefined" && globalThis.crossOriginIsolated !== false) return "";
  return "the page has no shared memory: it has to be served with the headers " +
    "Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp";
}

// -- threads ---------------------------------------------------------------------------------------

// What a further thread runs: it makes an instance of its own on the same memory, and waits there.
// `mathematics` and the functions that it uses come before this text.
function workerMain(listen, post) {
  let code;
  listen((message) => {
    if (message.module) {
      const { module, memory, stack } = message;
      const now = () => performance.now();
      const env = { ...mathematics(), memory, now, sleeps: () => 1, spawn: () => 1 };
      code = new WebAssembly.Instance(module, { env }).exports;
      code.__stack_pointer.value = stack;
      post("ready");
    } else code.nnc_thread(message.start, message.argument);
  });
}

async function startWorker() {
  const functions = [round, erf, erfc, mathematics, workerMain].map(String).join("\n");
  if (node) {
    const { Worker } = await builtin("node:worker_threads");
    const ports =
      'const { parentPort: port } = require("node:worker_threads");' +
      'workerMain((take) => port.on("message", take), (one) => port.postMessage(one));';
    const worker = new Worker(`${functions}\n${ports}`, { eval: true, execArgv: [] });
    worker.unref();
    return worker;
  }
  const ports = "workerMain((take) => { onmessage = (event) => take(event.data); }, postMessage);";
  const url = URL.createObjectURL(new Blob([`${functions}\n${ports}`], { type: "text/javascript" }));
  try {
    return new Worker(url);
  } finally {
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }
}

// A worker that has its instance.
async function readyWorker(module, memory, stack) {
  const worker = await startWorker();
  await new Promise((resolve, reject) => {
    const fail = (event) => reject(new Error(`a thread cannot be started: ${event.message ?? event}`));
    if (node) worker.once("message", resolve).once("error", fail);
    else Object.assign(worker, { onmessage: resolve, onerror: fail });
    worker.postMessage({ module, memory, stack });
  });
  return worker;
}

// -- the model -------------------------------------------------------------------------------------

class Model {
  #program;
  #workers = [];
  #pool = 0;

  // Makes the instance, and takes the weights from a stream. Called by `load` alone.
  static async make(module, weights, threads) {
    const model = new Model();
    const program = (model.#program = new Program());
    const starts = [];
    const sleeps = Number(maySleep());
    const spawn = (start, argument) => {
      const worker = model.#workers[starts.push(0) - 1];
      worker?.postMessage({ start, argument });
      return worker ? 0 : 1;
    };
    await program.instantiate(module, { sleeps: () => sleeps, spawn });
    try {
      await program.place(weights);
      if (threads > 1) await model.#startThreads(module, threads);
    } catch (error) {
      model.dispose();
      throw error;
    }
    return model;
  }

  async #startThreads(module, threads) {
    const { memory, code } = this.#program;
    const wanted = Array.from({ length: threads - 1 }, () => this.#program.allocate(STACK) + STACK);
    const started = wanted.map((stack) => readyWorker(module, memory, stack));
    const results = await Promise.allSettled(started);
    this.#workers = results.filter(({ value }) => value).map(({ value }) => value);
    const failed = results.find(({ reason }) => reason);
    if (failed) throw failed.reason;
    this.#pool = code.nnc_pool_create(threads);
  }

  /** How many threads a call uses. */
  get threads() {
    return this.#pool ? this.#workers.length + 1 : 1;
  }

  /** Names, types and shapes; null for an extent that is not known. */
  get inputs() {
    return MODEL.inputs;
  }

  get outputs() {
    return MODEL.outputs;
  }

  /** The outputs by name, from inputs by name: typed arrays, or { data, dims }. */
  async run(inputs) {
    return this.runSync(inputs);
  }

  /** The same at once: a page does nothing else in the meantime. */
  runSync(inputs) {
    const program = this.#program;
    if (!program) throw disposedOf();
    this.#call(program, program.put(checkedInputs(inputs ?? {})));
    return program.take();
  }

  /**
   * What runs once on these inputs, again and again, and gives the milliseconds that the code took; its
   * `outputs()` copies those of the last run. No other call may come between.
   */
  timer(inputs) {
    const program = this.#program;
    if (!program) throw disposedOf();
    const given = program.put(checkedInputs(inputs ?? {}));
    const run = () => {
      const started = performance.now();
      this.#call(program, given);
      return performance.now() - started;
    };
    run.outputs = () => program.take();
    return run;
  }

  #call(program, given) {
    const pointer = program.code.__stack_pointer.value;
    let status;
    try {
      status = program.code.nnc_run(...given, this.#pool);
    } catch (error) {
      throw program.failed(error, pointer);
    }
    if (status) throw program.failure(status);
  }

  /** Ends the threads and lets the memory go. */
  dispose() {
    for (const worker of this.#workers) worker.terminate();
    this.#workers = [];
    this.#program = undefined;
    this.#pool = 0;
  }
}

/**
 * The model, ready to run. `source` is the .wasm file: a URL, a path, a Response or its bytes; by
 * default what lies beside this file. Options: `threads`; `weights`, where those are a file of their
 * own; `progress`, called with { loaded, total } in bytes; `signal` to give up.
 */
export async function load(source = new URL(MODEL.file, import.meta.url), options = {}) {
  const { threads = 1, progress, signal } = options;
  if (!Number.isInteger(threads) || threads < 1)
    throw new RangeError(`the number of threads is a whole number of at least 1, not ${threads}`);
  checkEngine();
  const beside = MODEL.inside ? 0 : MODEL.weights + STAMP;
  const bytes = MODEL.head + STAMP + (beside ? 0 : MODEL.weights);
  let loaded = 0;
  const tell = (more) => {
    signal?.throwIfAborted();
    loaded += more;
    progress?.({ loaded, total: bytes + beside });
  };
  const file = new Stream(bytes, tell, ...(await open(source, signal)));
  const head = await file.take(Math.min(4, MODEL.head));
  if (new DataView(head.buffer).getUint32(0) !== 0x0061736d)
    throw new Error(`${file.name} is not WebAssembly`);
  const code = await file.take(MODEL.head - 4);
  const whole = new Uint8Array(MODEL.module);
  whole.set(head);
  whole.set(code.subarray(0, MODEL.module - 4), 4);
  const module = await WebAssembly.compile(whole);
  let weights = file;
  if (beside) {
    await file.finish();
    const where = options.weights ?? new URL(MODEL.weightsFile, import.meta.url);
    weights = new Stream(beside, tell, ...(await open(where, signal)));
  }
  return Model.make(module, weights, usableThreads(threads));
}

// As many as asked for where there can be more than one; says why not.
function usableThreads(threads) {
  if (threads === 1 || !MODEL.parallel) return 1;
  const reason = noThreads();
  if (reason) console.warn(`${MODEL.name}: 1 thread instead of ${threads}: ${reason}`);
  return reason ? 1 : threads;
}

export default load;
