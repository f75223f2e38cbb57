// Times kernels on the GPU of the machine that shows the page, and finds what that can do at most.
// `openDevice`, `makeKernels` and `Device` are those of targets/webgpu/device.mjs, which stands above.

/* global openDevice, makeKernels, Device */

const THREADS = 256, GROUPS = 1024, PASSES = 64, CHAINS = 4, READS = 16;
const MOST_READ = 64 << 20; // bytes
const PROBES = { rows: [`nnc_adds ${THREADS} a`, `nnc_reads ${THREADS} ra`, `nnc_nothing ${THREADS} a`], checks: [], waits: 0 };

// Several chains of multiply-adds, so that none waits for another.
const ADDS = `
@group(0) @binding(0) var<storage, read_write> made: array<vec4<f32>>;
@compute @workgroup_size(${THREADS})
fn nnc_adds(@builtin(global_invocation_id) id: vec3<u32>) {
  let f = vec4<f32>(f32(id.x) * 1e-9 + 0.5);
  var ${"abcd".split("").slice(0, CHAINS).map((name, i) => `${name} = f + ${i}.0;`).join(" var ")}
  for (var i = 0u; i < ${PASSES}u; i++) { ${"abcd".split("").slice(0, CHAINS).map((name) => `${name} = fma(${name}, f, f);`).join(" ")} }
  made[id.x] = a + b + c + d;
}`;
const READING = `
@group(0) @binding(0) var<storage, read> given: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> made: array<vec4<f32>>;
@compute @workgroup_size(${THREADS})
fn nnc_reads(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>) {
  var sum = vec4<f32>(0.0);
  let start = group.x * ${THREADS * READS}u + thread.x;
  for (var i = 0u; i < ${READS}u; i++) { sum += given[start + i * ${THREADS}u]; }
  if (sum.x == 1e30) { made[0] = sum; }
}`;
const NOTHING = `
@group(0) @binding(0) var<storage, read_write> made: array<vec4<f32>>;
@compute @workgroup_size(${THREADS})
fn nnc_nothing(@builtin(global_invocation_id) id: vec3<u32>) { if (id.x == 0xffffffffu) { made[0] = vec4<f32>(1.0); } }`;

const fault = (text, cause) => new Error(text, { cause });

/** A device with some kernels, which a module of WebAssembly with this memory launches. */
export async function openKernels(memory, about) {
  const opened = await openDevice(globalThis.navigator?.gpu, { features: [], limits: {}, ...about });
  const kernels = await makeKernels(opened, about.texts, about.rows);
  return new Device(opened, kernels, memory, about);
}

/** What a GPU can do at most: { gflops, levels, launch }, `launch` in microseconds; `timed` is that of measure.mjs. */
export async function gpuLimits(timed) {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const limits = { maxStorageBufferBindingSize: 1, maxBufferSize: 1 };
  const device = await openKernels(memory, { ...PROBES, texts: [ADDS, READING, NOTHING], limits });
  const { nnc_device_take: take, nnc_device_launch: launch } = device.imports();
  const most = Math.min(MOST_READ, device.device.limits.maxStorageBufferBindingSize);
  const groups = Math.floor(most / (16 * THREADS * READS));
  const words = new Uint32Array(memory.buffer, 0, 8);
  device.begin();
  const made = take(16 * THREADS * GROUPS), data = take(groups * 16 * THREADS * READS);
  const run = (number, count, ...buffers) => timed(() => {
    buffers.forEach((one, i) => (words[2 * i] = one));
    launch(number, count, 1, 1, 0);
  }, 5, () => device.settle());
  try {
    const nothing = await run(2, 1, made), adds = await run(0, GROUPS, made), reads = await run(1, groups, data, made);
    await device.end();
    const operations = 2 * 4 * CHAINS * PASSES * THREADS * GROUPS;
    return { gflops: operations / adds.low / 1e3, levels: [[null, (groups * 16 * THREADS * READS) / reads.low / 1e3, "GPU's memory"]], launch: nothing.low };
  } finally {
    device.device.destroy();
  }
}
