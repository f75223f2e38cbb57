// Times models for browsers beside onnxruntime-web, in turns: in a page, or in Node with a file of
// cases as its argument.

const KINDS = { f32: ["float32", Float32Array], i64: ["int64", BigInt64Array] };

async function timed(run, runs) {
  let best = Infinity;
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

// The largest difference, relative to the largest number.
function errorOf(found, wanted) {
  let difference = 0, size = 0;
  for (let i = 0; i < wanted.length; i++) {
    difference = Math.max(difference, Math.abs(found[i] - wanted[i]));
    size = Math.max(size, Math.abs(wanted[i]));
  }
  return difference / size;
}

async function ourRun({ ours, inputs }, read, threads) {
  const { load } = await import(ours);
  const model = await load(undefined, { threads });
  const given = {};
  for (const { name, type, dims, file } of inputs)
    given[name] = { data: new KINDS[type][1]((await read(file)).buffer), dims };
  return async () => Object.values(await model.run(given))[0].data;
}

async function theirRun(ort, { onnx, inputs, provider }, read) {
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(await read(onnx), { executionProviders: [provider] });
  const given = {};
  for (const { name, type, dims, file } of inputs) {
    const [kind, Kind] = KINDS[type];
    given[name] = new ort.Tensor(kind, new Kind((await read(file)).buffer), dims);
  }
  return async () => (await session.run(given))[session.outputNames[0]].data;
}

// Of one case the least milliseconds of each runtime, and our error relative to theirs.
export async function compare(ort, one, read) {
  const runs = {};
  for (const threads of one.threads) runs[`nnc ${threads}`] = await ourRun(one, read, threads);
  if (ort) runs.ort = await theirRun(ort, one, read);
  const first = {}, best = {};
  for (const [name, run] of Object.entries(runs)) {
    first[name] = await run();
    best[name] = Infinity;
  }
  for (let round = 0; round < one.rounds; round++)
    for (const [name, run] of Object.entries(runs))
      best[name] = Math.min(best[name], await timed(run, one.runs));
  const [ours] = Object.keys(runs);
  return { name: one.name, best, error: ort ? errorOf(first[ours], first.ort) : null };
}

// The milliseconds from the start of the page to a model's first result.
export async function firstResult(ort, one, read) {
  const run = one.peer ? await theirRun(ort, one, read) : await ourRun(one, read, 1);
  await run();
  return { name: one.name, peer: one.peer, ms: performance.now() };
}

if (globalThis.process?.argv?.[2]) {
  const { readFileSync } = await import("node:fs");
  const { ort: path, cases } = JSON.parse(readFileSync(process.argv[2], "utf-8"));
  const read = async (file) => new Uint8Array(readFileSync(file));
  const ort = path && (await import(path));
  for (const one of cases) console.log(JSON.stringify(await compare(ort, one, read)));
  process.exit(0);
}
