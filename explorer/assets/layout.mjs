// Coordinates of boxes: layers and orders come with the page, widths from what is open.

const GAP = 18; // between boxes of a layer
const RISE = 34; // between layers
const ROAD = 8; // the width of an edge's place
const PAD = 14;
const HEAD = 30; // of an open scope
export const NODE_HEIGHT = 30;
const SWEEPS = 6;

/**
 * Places for all that is seen of a model: boxes { id, x, y, w, h, depth }, ids as in scopes, and
 * edges as lists of points. `open` has the open scopes, `widthOf(id)` tells the width of a closed box.
 */
export function placed(graph, open, widthOf) {
  const sizes = new Map();
  const measure = (scope) => {
    const inner = graph.scopes[scope].boxes.map((box) => {
      if (box >= 0 || !open.has(-1 - box)) return { w: widthOf(box), h: NODE_HEIGHT };
      const size = measure(-1 - box);
      return { w: Math.max(size.w + 2 * PAD, widthOf(box)), h: size.h + HEAD + PAD };
    });
    const found = inScope(graph.scopes[scope], inner);
    sizes.set(scope, { ...found, inner });
    return found;
  };
  const whole = measure(0);
  const boxes = [], edges = [];
  const place = (scope, left, top, depth) => {
    const { centers, tops, inner } = sizes.get(scope);
    graph.scopes[scope].boxes.forEach((id, i) => {
      const { w, h } = inner[i];
      const box = { id, x: left + centers[i] - w / 2, y: top + tops[i], w, h, depth, isOpen: id < 0 && open.has(-1 - id) };
      boxes.push(box);
      if (box.isOpen) {
        const own = sizes.get(-1 - id);
        place(-1 - id, box.x + (w - own.w) / 2, box.y + HEAD, depth + 1);
      }
    });
    for (const [source, target, ...road] of graph.scopes[scope].edges) {
      const down = tops[source] <= tops[target];
      const [from, to] = down ? [source, target] : [target, source];
      const points = [[left + centers[from], top + tops[from] + inner[from].h]];
      const order = down ? road : [...road].reverse();
      for (const spot of order) points.push([left + centers[spot], top + tops[spot]]);
      points.push([left + centers[to], top + tops[to]]);
      edges.push({ scope, source: graph.scopes[scope].boxes[source], target: graph.scopes[scope].boxes[target], points });
    }
  };
  place(0, 0, 0, 0);
  return { boxes, edges, w: whole.w, h: whole.h };
}

function inScope({ boxes, edges, layers }, sizes) {
  const width = (one) => (one < boxes.length ? sizes[one].w : ROAD);
  const height = (one) => (one < boxes.length ? sizes[one].h : 0);
  const near = joined(edges, layers);
  const centers = [], tops = [], h = heights(layers, height);
  layers.forEach((layer, i) => layer.forEach((one) => (tops[one] = h.tops[i] + (h.heights[i] - height(one)) / 2)));
  for (const layer of layers) spread(layer, layer.map(() => 0), width, centers);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const order = sweep % 2 ? [...layers.keys()].reverse() : layers.keys();
    for (const i of order) {
      const wanted = layers[i].map((one) => {
        const ends = (sweep === SWEEPS - 1 ? [...near.above[one], ...near.below[one]] : sweep % 2 ? near.below[one] : near.above[one]);
        return ends.length ? ends.reduce((sum, end) => sum + centers[end], 0) / ends.length : centers[one];
      });
      spread(layers[i], wanted, width, centers);
    }
  }
  let least = Infinity, most = -Infinity;
  layers.flat().forEach((one) => {
    least = Math.min(least, centers[one] - width(one) / 2);
    most = Math.max(most, centers[one] + width(one) / 2);
  });
  if (!Number.isFinite(least)) least = most = 0;
  for (const one of layers.flat()) centers[one] -= least;
  return { centers, tops, w: most - least, h: h.whole };
}

function heights(layers, height) {
  const tops = [], found = [];
  let y = 0;
  for (const layer of layers) {
    const tallest = Math.max(0, ...layer.map(height));
    tops.push(y);
    found.push(tallest);
    y += tallest + RISE;
  }
  return { tops, heights: found, whole: Math.max(0, y - RISE) };
}

// What each box and each place of an edge is joined to, in the layers above and below.
function joined(edges, layers) {
  const level = [];
  layers.forEach((layer, i) => layer.forEach((one) => (level[one] = i)));
  const above = level.map(() => []), below = level.map(() => []);
  for (const chain of edges) {
    const [source, target, ...road] = chain;
    const line = [source, ...road, target];
    for (let i = 1; i < line.length; i++) {
      const [a, b] = level[line[i - 1]] < level[line[i]] ? [line[i - 1], line[i]] : [line[i], line[i - 1]];
      if (Math.abs(level[a] - level[b]) > 1) continue;
      below[a].push(b);
      above[b].push(a);
    }
  }
  return { above, below };
}

// Centers as near as possible to those wanted, in order and apart: groups that touch move together.
function spread(layer, wanted, width, centers) {
  const groups = [];
  let offset = 0;
  layer.forEach((one, i) => {
    if (i) offset += (width(layer[i - 1]) + width(one)) / 2 + GAP;
    let group = { sum: wanted[i] - offset, count: 1, from: i };
    while (groups.length && groups.at(-1).sum / groups.at(-1).count >= group.sum / group.count) {
      const last = groups.pop();
      group = { sum: last.sum + group.sum, count: last.count + group.count, from: last.from };
    }
    groups.push(group);
  });
  let at = 0, position = 0;
  layer.forEach((one, i) => {
    if (at + 1 < groups.length && groups[at + 1].from === i) at++;
    if (i) position += (width(layer[i - 1]) + width(one)) / 2 + GAP;
    centers[one] = groups[at].sum / groups[at].count + position;
  });
}
