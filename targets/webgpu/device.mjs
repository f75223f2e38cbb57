// A device of WebGPU as the program around the kernels has it. That is WebAssembly: it asks for memory,
// copies and launches by the functions of `Device`, which write them down for the GPU. What comes back
// is read when the program has ended, or in the middle where it has to wait. This stands in the file
// of `webgpu.mjs`, or of a page that times kernels; `fault(text, cause)` there makes an error.

async function inflated(text) {
  const packed = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

// -- the adapter -----------------------------------------------------------------------------------

// A device with the limits and features that the model needs, and as large buffers as there are.
async function openDevice(gpu, about) {
  if (!gpu) throw fault("there is no WebGPU here: it takes a browser that has it, and a page from https or localhost");
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw fault("no WebGPU adapter is here");
  const missing = about.features.filter((feature) => !adapter.features.has(feature));
  if (missing.length) throw fault(`the adapter has no ${missing.join(", no ")}, which the model needs`);
  const requiredLimits = {};
  for (const [name, needed] of Object.entries(about.limits)) {
    const found = adapter.limits[name];
    if (found < needed) throw fault(`the model needs ${name} of ${needed}, and the adapter has ${found}`);
    requiredLimits[name] = name.includes("uffer") ? found : needed;
  }
  try {
    return await adapter.requestDevice({ requiredFeatures: about.features, requiredLimits });
  } catch (error) {
    throw fault(`the adapter gives no device: ${error.message}`, error);
  }
}

// -- kernels ---------------------------------------------------------------------------------------

const TYPES = { a: "storage", r: "read-only-storage", s: "storage" };
const FIRST_WORDS = 4; // where the first group lies in the grid
const MOST_GROUPS = 65535;

// Changes bytes of one buffer to those of another, where they begin or end within a word.
const PATCH = {
  name: "nnc_patch",
  threads: 64,
  kinds: "raw",
  text: `
@group(0) @binding(0) var<storage, read> nnc_source: array<u32>;
@group(0) @binding(1) var<storage, read_write> nnc_target: array<u32>;
@group(0) @binding(2) var<uniform> nnc_patch_words: array<vec4<u32>, 2>;
@compute @workgroup_size(64)
fn nnc_patch(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>) {
  let start = nnc_patch_words[1].x;
  let to = nnc_patch_words[1].y;
  let end = to + nnc_patch_words[1].z;
  let word = to / 4u + (group.x + nnc_patch_words[0].x) * 64u + thread.x;
  if (word * 4u >= end) { return; }
  var made = nnc_target[word];
  for (var i = 0u; i < 4u; i++) {
    let at = word * 4u + i;
    let from_ = at - to + start;
    let byte = (nnc_source[from_ / 4u] >> (8u * (from_ % 4u))) & 255u;
    let mask = select(0u, 255u << (8u * i), at >= to && at < end);
    made = (made & ~mask) | ((byte << (8u * i)) & mask);
  }
  nnc_target[word] = made;
}
`,
};

// All pipelines, made before any is used.
async function makeKernels(device, texts, lines) {
  const rows = lines.map((row, i) => {
    const [name, threads, kinds] = row.split(" ");
    return { name, threads: Number(threads), kinds, text: texts[i] };
  });
  const made = [...rows, PATCH].map(async (row) => {
    const types = [...row.kinds].filter((kind) => TYPES[kind]);
    const words = FIRST_WORDS + [...row.kinds].reduce((sum, kind) => sum + (kind === "8" ? 2 : kind !== "s"), 0);
    const bytes = 16 * Math.ceil(words / 4);
    const visibility = GPUShaderStage.COMPUTE;
    const entries = types.map((kind, binding) => ({ binding, visibility, buffer: { type: TYPES[kind] } }));
    const buffer = { type: "uniform", hasDynamicOffset: true, minBindingSize: bytes };
    entries.push({ binding: types.length, visibility, buffer });
    const layout = device.createBindGroupLayout({ entries });
    const pipeline = await device.createComputePipelineAsync({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module: device.createShaderModule({ code: row.text }), entryPoint: row.name },
    });
    const writes = types.map((kind) => kind !== "r");
    return { ...row, layout, pipeline, bytes, writes, groups: new Map() };
  });
  try {
    return await Promise.all(made);
  } catch (error) {
    throw fault(`the device refuses the kernels: ${error.message.split("\n")[0]}`, error);
  }
}

// -- the device, as the program around the kernels has it ------------------------------------------

const PLACE = 16; // bits of a page of addresses: each block begins a page
const NUMBERS = 1 << 20; // bytes of numbers that launches have between two submissions
const words = (bytes) => Math.ceil(bytes / 4) * 4;
const whole = (bytes) => Math.max(16, Math.ceil(bytes / 16) * 16);
const TO_DEVICE = 0, TO_HOST = 1, WITHIN = 2, TO_HOST_AT_END = 3;

class Device {
  #pages = [undefined]; // by the upper bits of an address, its block; none has address 0
  #blocks = new Set();
  #constants = new Map();
  #late = []; // copies to the host's memory when the program has ended
  #encoder;
  #pass;
  #used = 0; // bytes of numbers
  #count = 0;
  #run = 0;

  // `about` has the texts of `checks`, and how often the program `waits` for the device in a run.
  constructor(device, kernels, memory, about) {
    Object.assign(this, { device, kernels, memory, about });
    this.step = device.limits.minUniformBufferOffsetAlignment;
    this.numbers = new Uint32Array(NUMBERS / 4);
    this.uniform = device.createBuffer({ size: NUMBERS, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
    this.status = this.about.checks.length ? this.#newBlock(4) : undefined;
    if (this.status) Object.assign(this.status, { bytes: 4, taken: 2 });
    device.lost.then(({ message }) => (this.lost = message || "no reason given"));
  }

  // What the program imports. Behind the first fault of a run, nothing is done any more.
  imports() {
    const guarded = (function_, otherwise) => (...values) => {
      if (this.fault) return otherwise;
      try {
        return function_.apply(this, values);
      } catch (error) {
        this.fault = error;
        return otherwise;
      }
    };
    return {
      nnc_device_take: guarded((bytes) => this.#take(bytes >>> 0).address, 0),
      nnc_device_give: guarded((address) => void (this.#at(address)[0].taken = 0)),
      nnc_device_constant: guarded(this.#constant, 0),
      nnc_device_launch: guarded(this.#launch),
      nnc_device_copy: this.#waits((...values) => this.#copy(...values)),
    };
  }

  // -- memory --

  #newBlock(bytes) {
    const size = whole(bytes), { maxStorageBufferBindingSize, maxBufferSize } = this.device.limits;
    const most = Math.min(maxStorageBufferBindingSize, maxBufferSize);
    if (size > most) throw fault(`a buffer of ${bytes} bytes is needed, and the adapter lets kernels see ${most}`);
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const count = Math.ceil(size / (1 << PLACE)) || 1;
    let page = 1;
    for (let have = 0, at = 1; have < count; at++) {
      if (at === 1 << (32 - PLACE)) throw fault("more memory of the device is needed than there are addresses");
      have = this.#pages[at] ? 0 : have + 1;
      page = at + 1 - have;
    }
    const buffer = this.device.createBuffer({ size, usage });
    const block = { number: ++this.#count, address: page * (1 << PLACE), page, count, buffer, size };
    this.#pages.length = Math.max(this.#pages.length, page + count);
    this.#pages.fill(block, page, page + count);
    this.#blocks.add(block);
    return block;
  }

  #take(bytes) {
    let found;
    for (const one of this.#blocks)
      if (!one.taken && one.size >= bytes && one.size / 2 <= whole(bytes)) {
        found = one;
        break;
      }
    found ??= this.#newBlock(bytes);
    return Object.assign(found, { bytes, taken: 1, run: this.#run });
  }

  // A block, and a place in it.
  #at(address) {
    const block = this.#pages[(address >>> 0) >>> PLACE];
    if (!block) throw fault("the program names memory that the device does not have");
    return [block, (address >>> 0) - block.address];
  }

  #constant(address, bytes) {
    const key = `${address} ${bytes}`;
    let block = this.#constants.get(key);
    if (!block) {
      block = this.#take(bytes >>> 0);
      block.taken = 2;
      if (bytes) this.#write(block, 0, address >>> 0, bytes >>> 0);
      this.#constants.set(key, block);
    }
    return block.address;
  }

  #drop(block) {
    block.buffer.destroy();
    this.#blocks.delete(block);
    this.#pages.fill(undefined, block.page, block.page + block.count);
    for (const { groups } of this.kernels)
      for (const [key, { numbers }] of groups) if (numbers.includes(block.number)) groups.delete(key);
  }

  // -- copies --

  #copy(to, from, bytes, way) {
    bytes >>>= 0;
    if (!bytes) return;
    if (way === TO_HOST && !this.about.waits) throw fault("the program looks at results in the middle, and cannot wait");
    if (way === TO_HOST) return this.#readNow(to >>> 0, ...this.#at(from), bytes);
    if (way === TO_HOST_AT_END) this.#late.push([to >>> 0, ...this.#at(from), bytes]);
    else if (way === TO_DEVICE) this.#write(...this.#at(to), from >>> 0, bytes);
    else if (way === WITHIN) this.#move(...this.#at(to), ...this.#at(from), bytes);
  }

  // The host's bytes, behind all that was asked for before.
  #write(block, at, from, bytes) {
    this.#submit();
    const data = new Uint8Array(words(bytes));
    data.set(new Uint8Array(this.memory.buffer, from, bytes));
    if (!((at | this.#padded(block, at, bytes)) & 3)) {
      this.device.queue.writeBuffer(block.buffer, at, data);
      return;
    }
    const source = this.#take(data.length);
    this.device.queue.writeBuffer(source.buffer, 0, data);
    this.#patch(block, at, source, 0, bytes);
    this.#submit();
    source.taken = 0;
  }

  #move(block, at, source, start, bytes) {
    const size = this.#padded(block, at, bytes);
    if (block === source || (at | start | size) & 3) return this.#patch(block, at, source, start, bytes);
    this.#commands().copyBufferToBuffer(source.buffer, start, block.buffer, at, size);
  }

  // How many bytes may be written: whole words where a block has nothing behind them.
  #padded(block, at, bytes) {
    return at + bytes >= block.bytes ? words(bytes) : bytes;
  }

  #patch(block, at, source, start, bytes) {
    const kernel = this.kernels.at(-1);
    const groups = Math.ceil((words(at + bytes) / 4 - Math.floor(at / 4)) / kernel.threads);
    this.#dispatch(kernel, [groups, 1, 1], [source, block], [start, at, bytes]);
  }

  // -- launches --

  // Where there is no encoder yet, one begins; a pass of launches ends.
  #commands() {
    this.#pass?.end();
    this.#pass = undefined;
    return (this.#encoder ??= this.device.createCommandEncoder());
  }

  #submit() {
    if (!this.#encoder) return;
    const encoder = this.#commands();
    this.device.queue.writeBuffer(this.uniform, 0, this.numbers, 0, this.#used / 4);
    this.device.queue.submit([encoder.finish()]);
    this.#encoder = undefined;
    this.#used = 0;
  }

  #launch(number, x, y, z, words) {
    const grid = [x >>> 0, y >>> 0, z >>> 0];
    if (grid.includes(0)) return;
    const kernel = this.kernels[number];
    const given = new Uint32Array(this.memory.buffer, words, 2 * kernel.kinds.length);
    const blocks = [], numbers = [];
    let next = 0;
    for (const kind of kernel.kinds) {
      if (kind === "s") blocks.push(this.status);
      else if (kind === "a" || kind === "r") {
        const [block, place] = this.#at(given[next]);
        blocks.push(block);
        numbers.push(place);
      } else if (kind === "8") numbers.push(given[next], given[next + 1]);
      else numbers.push(given[next]);
      next += 2 * (kind !== "s");
    }
    this.#dispatch(kernel, grid, blocks, numbers);
  }

  // A launch, in pieces where the grid is larger than WebGPU takes.
  #dispatch(kernel, grid, blocks, numbers) {
    const group = this.#group(kernel, blocks);
    for (let z = 0; z < grid[2]; z += MOST_GROUPS)
      for (let y = 0; y < grid[1]; y += MOST_GROUPS)
        for (let x = 0; x < grid[0]; x += MOST_GROUPS) {
          if (this.#used + kernel.bytes > NUMBERS) this.#submit();
          const first = [x, y, z];
          this.numbers.set([...first, 0, ...numbers], this.#used / 4);
          if (!this.#pass) this.#pass = this.#commands().beginComputePass();
          this.#pass.setPipeline(kernel.pipeline);
          this.#pass.setBindGroup(0, group, [this.#used]);
          this.#pass.dispatchWorkgroups(...grid.map((size, i) => Math.min(size - first[i], MOST_GROUPS)));
          this.#used = Math.ceil((this.#used + kernel.bytes) / this.step) * this.step;
        }
  }

  // What binds a kernel's buffers; one that is written too is read from a copy.
  #group(kernel, blocks) {
    const written = blocks.filter((one, i) => kernel.writes[i]);
    if (new Set(written).size !== written.length)
      throw fault(`kernel '${kernel.name}' writes two parts of one buffer, which WebGPU has no form for`);
    const bound = blocks.map((one, i) => {
      if (kernel.writes[i] || !written.includes(one)) return one;
      const copy = this.#take(one.size);
      this.#commands().copyBufferToBuffer(one.buffer, 0, copy.buffer, 0, one.size);
      return copy;
    });
    bound.forEach((one, i) => one !== blocks[i] && (one.taken = 0));
    const numbers = bound.map((one) => one.number), key = numbers.join();
    if (!kernel.groups.has(key)) {
      const entries = bound.map(({ buffer }, binding) => ({ binding, resource: { buffer } }));
      entries.push({ binding: bound.length, resource: { buffer: this.uniform, size: kernel.bytes } });
      const group = this.device.createBindGroup({ layout: kernel.layout, entries });
      kernel.groups.set(key, { group, numbers });
    }
    return kernel.groups.get(key).group;
  }

  // -- what comes back --

  // Copies, for a program that may wait; one that need not has them at its end alone.
  #waits(copy) {
    const guarded = (to, from, bytes, way) => {
      const fail = (error) => {
        this.fault ??= error;
        if (way === TO_HOST) new Uint8Array(this.memory.buffer, to >>> 0, bytes >>> 0).fill(0); // so that no loop waits
      };
      if (this.fault) return void fail(this.fault);
      try {
        return copy(to, from, bytes, way)?.catch(fail);
      } catch (error) {
        fail(error);
      }
    };
    return this.about.waits ? new WebAssembly.Suspending(guarded) : guarded;
  }

  async #readNow(to, block, start, bytes) {
    const [read] = await this.#read([[block, start, bytes]]);
    new Uint8Array(this.memory.buffer, to, bytes).set(read);
  }

  // Bytes of blocks, behind all that was asked for.
  async #read(parts) {
    const places = [];
    let total = 0;
    for (const [, start, bytes] of parts) {
      const first = start & ~3, size = ((start + bytes + 3) & ~3) - first;
      places.push({ first, size, at: total });
      total += size;
    }
    if (!this.staging || this.staging.size < total) {
      this.staging?.destroy();
      this.staging = this.device.createBuffer({ size: whole(total), usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    }
    const encoder = this.#commands(), staging = this.staging;
    parts.forEach(([block], i) => {
      const { first, size, at } = places[i];
      encoder.copyBufferToBuffer(block.buffer, first, staging, at, size);
    });
    this.#submit();
    await staging.mapAsync(GPUMapMode.READ, 0, total);
    const all = new Uint8Array(staging.getMappedRange(0, total)).slice();
    staging.unmap();
    return parts.map(([, start, bytes], i) => {
      const { first, at } = places[i];
      return all.subarray(at + start - first, at + start - first + bytes);
    });
  }

  begin() {
    if (this.lost) throw fault(`the device is lost (${this.lost}): load the model again`);
    this.fault = undefined;
    this.#late = [];
    this.#run++;
    this.device.pushErrorScope("out-of-memory");
    this.device.pushErrorScope("validation");
    if (this.status) this.device.queue.writeBuffer(this.status.buffer, 0, new Uint32Array(1));
  }

  // Waits for all of a run, whose outputs are in the program's memory then.
  async end() {
    try {
      const parts = this.#late.map(([, ...part]) => part);
      if (this.status) parts.push([this.status, 0, 4]);
      if (!this.fault && parts.length) {
        const found = await this.#read(parts);
        this.#late.forEach(([to, , , bytes], i) => new Uint8Array(this.memory.buffer, to, bytes).set(found[i]));
        const failed = this.status ? new Uint32Array(found.at(-1).slice().buffer)[0] : 0;
        if (failed) this.fault = fault(this.about.checks[failed - 1]);
      }
      this.#submit();
    } catch (error) {
      this.fault ??= error;
      await new Promise((resolve) => setTimeout(resolve)); // until it is known whether the device is lost
    }
    const [invalid, full] = await Promise.all([0, 0].map(() => this.device.popErrorScope().catch(() => null)));
    this.#giveBack();
    if (this.lost) throw fault(`the device was lost: ${this.lost}`);
    if (full) throw fault("the device has too little memory");
    if (invalid) throw fault(`the device failed: ${invalid.message.split("\n")[0]}`);
    if (this.fault) throw this.fault;
  }

  // Waits until all that was asked for is done; nothing is read.
  async settle() {
    this.#submit();
    await this.device.queue.onSubmittedWorkDone();
    if (this.fault) throw this.fault;
  }

  // What a run has taken is free, and what it had no use for goes.
  #giveBack() {
    for (const block of this.#blocks) {
      if (block.taken === 1) block.taken = 0;
      if (!block.taken && block.run !== this.#run) this.#drop(block);
    }
  }
}
