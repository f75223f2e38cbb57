// How two texts differ, line by line: Myers, "An O(ND) difference algorithm and its variations" (1986).

const MOST_EDITS = 2000; // beyond, what differs is shown as a whole

/** Pairs [line of a, line of b] in order; undefined on the side that lacks the line. */
export function differences(a, b) {
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) endA--, endB--;
  const pairs = [];
  for (let i = 0; i < start; i++) pairs.push([i, i]);
  const middle = shortest(a.slice(start, endA), b.slice(start, endB));
  for (const [x, y] of middle) pairs.push([x === undefined ? x : x + start, y === undefined ? y : y + start]);
  for (let i = 0; i < a.length - endA; i++) pairs.push([endA + i, endB + i]);
  return pairs;
}

function shortest(a, b) {
  const most = Math.min(a.length + b.length, MOST_EDITS);
  const trace = [];
  let front = new Map([[1, 0]]);
  for (let edits = 0; edits <= most; edits++) {
    trace.push(front);
    const next = new Map(front);
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (front.get(k - 1) ?? -1) < (front.get(k + 1) ?? -1));
      let x = down ? front.get(k + 1) ?? 0 : (front.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trace, edits);
    }
    front = next;
  }
  return [...a.map((_, i) => [i, undefined]), ...b.map((_, i) => [undefined, i])];
}

function walkBack(a, b, trace, edits) {
  const pairs = [];
  let x = a.length, y = b.length;
  for (let d = edits; d > 0; d--) {
    const front = trace[d], k = x - y;
    const down = k === -d || (k !== d && (front.get(k - 1) ?? -1) < (front.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1;
    const fromX = front.get(before) ?? 0, fromY = fromX - before;
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) pairs.push([--x, --y]);
    if (down) pairs.push([undefined, --y]);
    else pairs.push([--x, undefined]);
  }
  while (x > 0 && y > 0) pairs.push([--x, --y]);
  return pairs.reverse();
}
