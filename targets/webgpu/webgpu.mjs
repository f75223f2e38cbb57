// Loads and runs the model that belongs to this file, on the GPU, in browsers and workers:
//
//     const model = await load();
//     const { y } = await model.run({ x: new Float32Array(150528) });
//     y.data, y.dims
//
// Nothing here depends on the model but `MODEL`.

const MODEL = "MODEL";

const fault = (text, cause) => new Error(`${MODEL.name}: ${text}`, { cause });

// -- the model -------------------------------------------------------------------------------------

class Model {
  #program;
  #device;
  #last = Promise.resolve();

  // Called by `load` alone.
  static async make(code, device, kernels, weights) {
    const model = new Model();
    const program = (model.#program = new Program());
    model.#device = new Device(device, await kernels, program.memory, MODEL);
    await program.instantiate(code, { ...model.#device.imports(), sleeps: () => 0, spawn: () => 1 });
    await program.place(weights);
    return model;
  }

  /** Names, types and shapes; null for an extent that is not known. */
  get inputs() {
    return MODEL.inputs;
  }

  get outputs() {
    return MODEL.outputs;
  }

  /** What the browser says of the adapter. */
  get adapter() {
    return this.#device.device.adapterInfo;
  }

  /** The outputs by name, from inputs by name: typed arrays, or { data, dims }. One run after the other. */
  async run(inputs) {
    if (!this.#program) throw disposedOf();
    const given = checkedInputs(inputs ?? {});
    const made = this.#last.then(() => this.#run(given));
    this.#last = made.catch(() => {});
    return made;
  }

  async #run(given) {
    const program = this.#program;
    if (!program) throw disposedOf();
    const { code } = program, values = program.put(given), pointer = code.__stack_pointer.value;
    this.#device.begin();
    let status = 0, failed;
    try {
      const run = MODEL.waits ? WebAssembly.promising(code.nnc_run) : code.nnc_run;
      status = await run(...values, 0);
    } catch (error) {
      failed = program.failed(error, pointer);
    }
    if (status) this.#device.fault ??= program.failure(status);
    try {
      await this.#device.end();
    } catch (error) {
      throw failed ?? error;
    }
    if (failed) throw failed;
    return program.take();
  }

  /** Gives the device back. */
  dispose() {
    this.#device?.device.destroy();
    this.#program = undefined;
  }
}

/**
 * The model, ready to run. `source` are its weights: a URL, a path, a Response or bytes; by default
 * what lies beside this file. Options: `progress`, called with { loaded, total } in bytes; `signal`
 * to give up; `gpu` in place of `navigator.gpu`.
 */
export async function load(source = new URL(MODEL.weightsFile, import.meta.url), options = {}) {
  const { progress, signal, gpu = globalThis.navigator?.gpu } = options;
  if (MODEL.waits && !WebAssembly.Suspending)
    throw fault(
      `${MODEL.waits} steps need the host in the middle of a run, for which this browser cannot wait ` +
        "(it has no WebAssembly.Suspending)",
    );
  const total = MODEL.weights + STAMP;
  let loaded = 0;
  const tell = (more) => {
    signal?.throwIfAborted();
    loaded += more;
    progress?.({ loaded, total });
  };
  const code = inflated(MODEL.code).then((bytes) => WebAssembly.compile(bytes));
  const file = open(source, signal);
  [code, file].forEach((one) => one.catch(() => {})); // they are waited for below
  const device = await openDevice(gpu, MODEL);
  try {
    const kernels = inflated(MODEL.kernels).then((bytes) => makeKernels(device, new TextDecoder().decode(bytes).split("\0"), MODEL.rows));
    kernels.catch(() => {});
    return await Model.make(await code, device, kernels, new Stream(total, tell, ...(await file)));
  } catch (error) {
    device.destroy();
    throw error;
  }
}

export default load;
