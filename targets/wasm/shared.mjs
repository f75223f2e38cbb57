// What loaders of models share: files as they arrive, tensors as callers give them, and the code with
// its memory. It stands in the loader's own file, behind `MODEL` and the functions of `mathematics.mjs`.

// What else may be given for an element type. Half precision comes out as its bits, which may be
// given too, with or without an engine that has Float16Array.
const ALSO = { f16: "Float16Array", ui8: "Uint8ClampedArray" };
const PAGE = 65536;
const STAMP = 8; // bytes at the end of a file
const TENSOR = 8; // bytes of an nnc_tensor: the addresses of its elements and of its shape

const node = globalThis.process?.versions?.node ? globalThis.process : undefined;
const builtin = async (name) => node.getBuiltinModule?.(name) ?? import(/* @vite-ignore */ name);

// -- files -----------------------------------------------------------------------------------------

// The bytes of a file, in order, as they arrive.
class Stream {
  constructor(bytes, tell, name, chunks) {
    this.bytes = bytes; // that there have to be
    this.tell = tell;
    this.name = name;
    this.chunks = chunks;
    this.have = 0;
    this.rest = new Uint8Array(0);
  }

  async read(size, put) {
    for (let done = 0; done < size; ) {
      if (!this.rest.length) {
        const { done: ended, value } = await this.chunks.next();
        if (ended)
          throw new Error(`${this.name} ends after ${this.have} of ${this.bytes} bytes: it is truncated`);
        this.rest = value;
        this.have += value.length;
        this.tell(value.length);
        continue;
      }
      const part = this.rest.subarray(0, size - done);
      put(part, done);
      done += part.length;
      this.rest = this.rest.subarray(part.length);
    }
  }

  async take(size) {
    const made = new Uint8Array(size);
    await this.read(size, (part, at) => made.set(part, at));
    return made;
  }

  // The last bytes: the code's digest.
  async finish() {
    const stamp = await this.take(STAMP);
    const found = Array.from(stamp, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const ended = !this.rest.length && (await this.chunks.next()).done;
    if (found !== MODEL.stamp || !ended)
      throw new Error(`${this.name} belongs to another model than this file, or is damaged`);
  }
}

// The checksum of bytes in memory: of 32-bit words, the sum and the sum of its values so far, modulo 2**32.
function sumsOf(memory, address, bytes) {
  const words = new Uint32Array(memory, address, bytes >>> 2), rest = bytes & 3;
  let plain = 0, falling = 0;
  for (let i = 0; i < words.length; i++) {
    plain = (plain + words[i]) | 0;
    falling = (falling + plain) | 0;
  }
  if (rest) {
    const last = new Uint8Array(memory, address + bytes - rest, rest);
    for (let i = 0; i < rest; i++) plain = (plain + (last[i] << (8 * i))) | 0;
    falling = (falling + plain) | 0;
  }
  return [plain >>> 0, falling >>> 0];
}

async function* chunksOf(body) {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function* fileChunks(path) {
  const { open } = (await builtin("node:fs")).promises;
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(1 << 20));
      if (!bytesRead) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

// The chunks of what may be a URL, a path (in Node), a Response, or bytes.
async function open(source, signal) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    const bytes = ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : new Uint8Array(source);
    return ["the model", [bytes][Symbol.iterator]()];
  }
  let response = source;
  if (!(globalThis.Response && source instanceof Response)) {
    const text = String(source);
    const remote = /^(https?|data|blob):/.test(text);
    if (node && !remote) {
      const path = /^file:/.test(text) ? (await builtin("node:url")).fileURLToPath(text) : text;
      return [path, fileChunks(path)];
    }
    response = await fetch(text, { signal });
  }
  const name = response.url?.startsWith("data:") ? "the model" : response.url || "the model";
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return [name, chunksOf(response.body)];
}

// -- tensors ---------------------------------------------------------------------------------------

const count = (dims) => dims.reduce((product, extent) => product * extent, 1);
const shown = (dims) => `[${dims.map((extent) => extent ?? "?").join(", ")}]`;

// The array of a tensor's elements.
export const arrayOf = ({ array }) => globalThis[array];

// The elements and the extents of an input. Throws TypeError or RangeError that names it.
function checked({ name, type, dims, array }, given) {
  const allowed = [array, ALSO[type]].map((one) => globalThis[one]).filter(Boolean);
  const fail = (Kind, text) => {
    throw new Kind(`input '${name}': ${text}`);
  };
  const data = ArrayBuffer.isView(given) ? given : given?.data;
  if (!allowed.some((Kind) => data instanceof Kind))
    fail(TypeError, `expected ${array} (${type}), found ${kindOf(data ?? given)}`);
  let extents = data === given ? undefined : Array.from(given.dims ?? dims, Number);
  if (!extents) {
    extents = [...dims];
    const open = dims.indexOf(null);
    if (open !== dims.lastIndexOf(null))
      fail(TypeError, `its shape is ${shown(dims)}: give { data, dims }`);
    if (open >= 0) {
      const known = count(dims.filter((extent) => extent !== null));
      if (known && data.length % known)
        fail(RangeError, `expected a multiple of ${known} elements for shape ${shown(dims)}, found ${data.length}`);
      extents[open] = known ? data.length / known : 0;
    }
  }
  const whole = extents.every((extent) => Number.isInteger(extent) && extent >= 0);
  if (!whole || extents.length !== dims.length || dims.some((want, i) => want !== null && want !== extents[i]))
    fail(RangeError, `expected shape ${shown(dims)}, found ${shown(extents)} (${data.length} elements)`);
  if (count(extents) !== data.length)
    fail(RangeError, `expected ${count(extents)} elements for shape ${shown(extents)}, found ${data.length}`);
  return { data, dims: extents };
}

function kindOf(value) {
  return value === undefined ? "nothing" : value?.constructor?.name ?? typeof value;
}

// The same of all inputs by name.
function checkedInputs(inputs) {
  const known = MODEL.inputs.map(({ name }) => name);
  for (const name of Object.keys(inputs))
    if (!known.includes(name))
      throw new TypeError(`there is no input '${name}'; the inputs are ${known.map((one) => `'${one}'`).join(", ")}`);
  return MODEL.inputs.map((input) => {
    if (inputs[input.name] === undefined) throw new TypeError(`input '${input.name}' is missing`);
    return checked(input, inputs[input.name]);
  });
}

// -- a model's code and its memory -----------------------------------------------------------------

// What the module needs from the first, and as much more as the engine grants.
function newMemory() {
  const initial = MODEL.pages;
  let failed;
  for (let maximum = PAGE; ; maximum = Math.max(initial, maximum >> 1)) {
    try {
      return new WebAssembly.Memory({ initial, maximum, shared: MODEL.parallel });
    } catch (error) {
      failed = error;
    }
    if (maximum === initial)
      throw new RangeError(`${MODEL.name}: no memory for ${(initial * PAGE) / 1e6} MB: ${failed.message}`);
  }
}

const disposedOf = () => new Error(`${MODEL.name}: the model is disposed of`);

// An instance with the memory that all calls use: `put` inputs, call the code, `take` outputs.
class Program {
  #inputs;
  #outputs;
  #arena = 0;
  #weights = 0;
  #tensors = 0;

  constructor() {
    this.memory = newMemory();
  }

  async instantiate(module, imports) {
    const now = () => performance.now();
    const env = { ...mathematics(), memory: this.memory, now, ...imports };
    this.code = (await WebAssembly.instantiate(module, { env })).exports;
  }

  allocate(bytes) {
    const address = this.code.nnc_allocate(bytes) >>> 0; // the engine gives it a sign
    if (!address) throw new RangeError(`${MODEL.name}: no memory for ${bytes} bytes more`);
    return address;
  }

  // Takes the weights from a stream, and memory for all else.
  async place(stream) {
    const stored = this.allocate(MODEL.weights);
    const all = new Uint8Array(this.memory.buffer);
    await stream.read(MODEL.weights, (part, at) => all.set(part, stored + at));
    await stream.finish();
    const sums = sumsOf(this.memory.buffer, stored, MODEL.weights);
    if (sums.some((sum, i) => sum !== MODEL.sums[i])) throw new Error(`${stream.name} is damaged`);
    this.#weights = stored;
    if (MODEL.prepared) {
      this.#weights = this.allocate(MODEL.prepared);
      const arena = this.allocate(MODEL.prepareArena);
      for (let step = 0; this.code.nnc_prepare(stored, this.#weights, arena, 0, step) >= 0; step++);
      this.code.nnc_free(arena);
    }
    this.#arena = this.allocate(MODEL.arena);
    new Uint8Array(this.memory.buffer, this.#arena, MODEL.heap).fill(0);
    const tensors = [...MODEL.inputs, ...MODEL.outputs];
    this.#tensors = this.allocate(TENSOR * tensors.length);
    const places = tensors.map((one) => {
      const { dims } = one;
      const bytes = dims.includes(null) ? 0 : count(dims) * arrayOf(one).BYTES_PER_ELEMENT;
      return { data: bytes ? this.allocate(bytes) : 0, bytes, shape: this.allocate(8 * dims.length) };
    });
    this.#inputs = places.slice(0, MODEL.inputs.length);
    this.#outputs = places.slice(MODEL.inputs.length);
  }

  // Writes inputs and every nnc_tensor; gives what `nnc_run` takes, but for the pool.
  put(given) {
    given.forEach((one, i) => this.#put(one, MODEL.inputs[i], this.#inputs[i]));
    const places = [...this.#inputs, ...this.#outputs];
    const fields = new Uint32Array(this.memory.buffer, this.#tensors, 2 * places.length);
    places.forEach(({ data, shape }, i) => fields.set([data, shape], 2 * i));
    return [this.#tensors, this.#tensors + TENSOR * this.#inputs.length, this.#arena, this.#weights];
  }

  #put({ data, dims }, input, place) {
    const bytes = count(dims) * arrayOf(input).BYTES_PER_ELEMENT;
    if (bytes > place.bytes) {
      this.code.nnc_free(place.data);
      Object.assign(place, { data: 0, bytes: 0 });
      Object.assign(place, { data: this.allocate(bytes), bytes });
    }
    const from = new Uint8Array(data.buffer, data.byteOffset, bytes);
    new Uint8Array(this.memory.buffer, place.data, bytes).set(from);
    new BigInt64Array(this.memory.buffer, place.shape, dims.length).set(dims.map(BigInt));
  }

  // The outputs by name, behind a call.
  take() {
    return Object.fromEntries(MODEL.outputs.map((one, i) => [one.name, this.#take(one, i)]));
  }

  #take(output, i) {
    const { dims } = output;
    const buffer = this.memory.buffer;
    const made = dims.includes(null); // by the model, which fills in where
    const [data, shape] = new Uint32Array(buffer, this.#tensors + TENSOR * (this.#inputs.length + i), 2);
    const extents = made ? Array.from(new BigInt64Array(buffer, shape, dims.length), Number) : [...dims];
    const Kind = arrayOf(output);
    const result = new Kind(count(extents));
    if (result.length) result.set(new Kind(buffer, data, result.length));
    if (made) this.code.nnc_free(data);
    return { data: result, dims: extents };
  }

  // The error where the code ended by one of the engine's.
  failed(error, pointer) {
    this.code.__stack_pointer.value = pointer;
    return new Error(`${MODEL.name}: the model failed: ${error.message}`, { cause: error });
  }

  // The error that a status says.
  failure(status) {
    const message = MODEL.failures[status - MODEL.firstFailure] ?? `status ${status}`;
    return Object.assign(new Error(`${MODEL.name}: ${message}`), { status });
  }
}
