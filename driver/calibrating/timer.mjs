// Times experiments in an engine of WebAssembly for a process on this machine. Its argument is a
// file of JSON: for each experiment the model's module, the bytes of its input, its threads, and how
// many instances take turns.
// Each line of input is a list of experiments' numbers; each line of output has the seconds of one
// run of each, one after the other, and those that the process had of the processors meanwhile.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const timers = [];
for (const { loader, bytes, threads, instances } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const { load, arrayOf } = await import(pathToFileURL(loader).href);
  const turns = [];
  for (let i = 0; i < instances; i++) {
    const model = await load(undefined, { threads });
    const [input] = model.inputs;
    const data = new (arrayOf(input))(new Float32Array(bytes / 4).fill(0.5).buffer);
    turns.push(model.timer({ [input.name]: data }));
  }
  let turn = 0;
  timers.push(() => turns[turn++ % instances]());
}
console.log("ready");
function run(i) {
  const before = process.cpuUsage();
  const seconds = timers[i]() / 1000;
  const { user, system } = process.cpuUsage(before);
  return [seconds, (user + system) / 1e6];
}
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(JSON.parse(line).map(run)));
process.exit(0);
