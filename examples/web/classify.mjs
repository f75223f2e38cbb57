// A page that classifies pictures. What the model is for, its labels and how it wants a picture are
// in about.json.

const about = await (await fetch("about.json")).json();
const at = (id) => document.getElementById(id);
at("title").textContent = about.title;
at("about").textContent = about.text;

// What went wrong, where the page tells how far it is.
function report(error) {
  at("state").textContent = error.message;
  throw error;
}

const options = {
  threads: globalThis.crossOriginIsolated ? Math.min(4, navigator.hardwareConcurrency) : 1,
  progress: ({ loaded, total }) => {
    at("progress").value = loaded / total;
    at("state").textContent = `${(loaded / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB`;
  },
};

// On the GPU where there is a module for it, else on the processor; why not on the GPU.
async function loaded() {
  let reason = "";
  if (about.gpu)
    try {
      return [await (await import("./gpu.mjs")).load(undefined, options), reason];
    } catch (error) {
      reason = ` (not on the GPU: ${error.message})`;
    }
  return [await (await import("./model.mjs")).load(undefined, options), reason];
}

const [model, reason] = await loaded().catch(report);
const { adapter, threads } = model;
const where = adapter
  ? `the GPU: ${[adapter.vendor, adapter.architecture].filter(Boolean).join(" ") || "no name"}`
  : `${threads} thread${threads > 1 ? "s" : ""}${reason}`;
const [input] = model.inputs;
if (model.inputs.length > 1 || input.dims.length !== 4 || input.dims.includes(null))
  report(new Error("the model does not take one picture of a fixed size, [1, 3, height, width]"));
at("state").textContent = `ready: ${where}`;

// The picture as the model wants it: planes of red, green and blue, scaled. A picture of another
// shape is stretched, or keeps its shape and leaves the right side empty.
function pixelsOf(picture) {
  const [, , height, width] = input.dims;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const used = about.fit === "left" ? Math.min(width, Math.round((height * picture.width) / picture.height)) : width;
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, used, height);
  const { data } = context.getImageData(0, 0, width, height);
  const planes = new Float32Array(3 * height * width);
  for (let place = 0; place < height * width; place++)
    for (let color = 0; color < 3; color++)
      planes[color * height * width + place] =
        place % width < used ? (data[4 * place + color] / 255 - about.mean[color]) / about.scale[color] : 0;
  return planes;
}

function shares(scores) {
  if (about.shares) return [...scores];
  const most = Math.max(...scores);
  const powers = Array.from(scores, (score) => Math.exp(score - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

// What the page shows of the picture before goes when another one is chosen, also one that fails.
const hint = at("drop").querySelector("span");
const showInDrop = (element) => at("drop").querySelector("span, img").replaceWith(element);

async function classify(file) {
  showInDrop(hint);
  at("results").replaceChildren();
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${file.name} is not a picture that this browser reads`);
  });
  showInDrop(Object.assign(new Image(), { src: URL.createObjectURL(file) }));
  const planes = pixelsOf(bitmap);
  const start = performance.now();
  const outputs = await model.run({ [input.name]: planes });
  const time = performance.now() - start;
  const found = shares(Object.values(outputs)[0].data);
  const best = found.map((share, i) => [share, about.labels[i] ?? `class ${i}`]);
  best.sort(([a], [b]) => b - a);
  at("results").replaceChildren(...best.slice(0, 5).map(row));
  at("state").textContent = `${time.toFixed(1)} ms on ${where}`;
  return best;
}

function row([share, label]) {
  const line = Object.assign(document.createElement("div"), { className: "row" });
  line.innerHTML = '<span></span><div><div class="bar"></div></div><span class="share"></span>';
  line.children[0].textContent = label;
  line.querySelector(".bar").style.width = `${100 * share}%`;
  line.children[2].textContent = `${(100 * share).toFixed(1)} %`;
  return line;
}

const show = ([file]) => file && classify(file).catch(report);
at("file").onchange = (event) => show(event.target.files);
document.ondragover = (event) => {
  event.preventDefault();
  at("drop").classList.add("over");
};
document.ondragleave = () => at("drop").classList.remove("over");
document.ondrop = (event) => {
  event.preventDefault();
  at("drop").classList.remove("over");
  show(event.dataTransfer.files);
};

globalThis.classify = classify; // for tests of the page
