import { at, type Box, type Edits, isOneSided, markAll, trimBox } from './interned-lines.ts';

type Point = { readonly a: number; readonly b: number };

/**
 * A search of one box from both corners. Diagonal k holds the points with a − b = k, counted from the box's
 * own corner. `forward[zero + k]` is the greatest a reached on it so far, `backward[zero + k]` the least.
 */
type Search = {
  readonly edits: Edits;
  readonly box: Box;
  readonly width: number;
  readonly height: number;
  readonly zero: number;
  readonly forward: Int32Array;
  readonly backward: Int32Array;
};

/**
 * Marks a shortest set of edits between two sequences, in linear space.
 *
 * A search that has spent `maxCost` edits from each corner is cut short at the point furthest from
 * where it began. The result is then correct but maybe not the shortest, and time stays
 * proportional to lines × `maxCost`.
 *
 * Source: Myers: An O(ND) Difference Algorithm and Its Variations (1986), section 4b
 */
export function markShortestEdits(edits: Edits, maxCost: number): void {
  const whole = { aStart: 0, aEnd: edits.a.length, bStart: 0, bEnd: edits.b.length };
  const size = edits.a.length + edits.b.length + 3;
  const forward = new Int32Array(size);
  const backward = new Int32Array(size);
  // A stack of our own: searches that are cut short can nest thousands deep.
  const todo = [whole];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const box = trimBox(edits, next);
    if (isOneSided(box)) {
      markAll(edits, box);
      continue;
    }
    const width = box.aEnd - box.aStart;
    const height = box.bEnd - box.bStart;
    const search = { edits, box, width, height, zero: height + 1, forward, backward };
    const { a, b } = findSplit(search, maxCost);
    todo.push({ ...box, aStart: box.aStart + a, bStart: box.bStart + b });
    todo.push({ ...box, aEnd: box.aStart + a, bEnd: box.bStart + b });
  }
}

/** Returns a point on a shortest path, relative to the box. Never one of its two corners. */
function findSplit(search: Search, maxCost: number): Point {
  for (let cost = 0; ; cost++) {
    const meeting = advance(search, cost) ?? retreat(search, cost);
    if (meeting !== null) return meeting;
    if (cost >= maxCost) return furthestPoint(search, cost);
  }
}

/** Makes one more edit from the head; returns the point where that meets the search from the tail. */
function advance(search: Search, cost: number): Point | null {
  const { edits, box, width, height, zero, forward, backward } = search;
  const { a: mine, b: other } = edits;
  const delta = width - height;
  const [low, high] = diagonals(0, cost, search);
  if (low === -cost || low === -height) forward[zero + low - 1] = -1;
  if (high === cost || high === width) forward[zero + high + 1] = -1;
  for (let k = low; k <= high; k += 2) {
    const right = at(forward, zero + k - 1) + 1;
    let a = Math.max(right, at(forward, zero + k + 1));
    let i = box.aStart + a;
    let j = box.bStart + a - k;
    while (i < box.aEnd && j < box.bEnd && mine[i] === other[j]) {
      i++;
      j++;
    }
    a = i - box.aStart;
    forward[zero + k] = a;
    const isMeeting = (delta & 1) === 1 && Math.abs(k - delta) < cost;
    if (isMeeting && at(backward, zero + k) <= a) return { a, b: a - k };
  }
  return null;
}

/** Makes one more edit from the tail; returns the point where that meets the search from the head. */
function retreat(search: Search, cost: number): Point | null {
  const { edits, box, width, height, zero, forward, backward } = search;
  const { a: mine, b: other } = edits;
  const delta = width - height;
  const [low, high] = diagonals(delta, cost, search);
  if (low === delta - cost || low === -height) backward[zero + low - 1] = width + 1;
  if (high === delta + cost || high === width) backward[zero + high + 1] = width + 1;
  for (let k = low; k <= high; k += 2) {
    let a = Math.min(at(backward, zero + k - 1), at(backward, zero + k + 1) - 1);
    let i = box.aStart + a - 1;
    let j = box.bStart + a - k - 1;
    while (i >= box.aStart && j >= box.bStart && mine[i] === other[j]) {
      i--;
      j--;
    }
    a = i + 1 - box.aStart;
    backward[zero + k] = a;
    const isMeeting = (delta & 1) === 0 && Math.abs(k) <= cost;
    if (isMeeting && at(forward, zero + k) >= a) return { a, b: a - k };
  }
  return null;
}

/** Returns the point with the most progress, counted from the corner where its search began. */
function furthestPoint({ width, height, zero, forward, backward }: Search, cost: number): Point {
  let best = { a: 0, b: 0 };
  let progress = 0;
  const consider = (a: number, b: number, gained: number) => {
    if (gained <= progress) return;
    progress = gained;
    best = { a, b };
  };
  const [low, high] = diagonals(0, cost, { width, height });
  for (let k = low; k <= high; k += 2) {
    // A search may step over the border by one.
    const a = Math.min(at(forward, zero + k), width, height + k);
    consider(a, a - k, a + a - k);
  }
  const [least, most] = diagonals(width - height, cost, { width, height });
  for (let k = least; k <= most; k += 2) {
    const a = Math.max(at(backward, zero + k), 0, k);
    consider(a, a - k, width - a + height - (a - k));
  }
  return best;
}

/**
 * Returns the outermost diagonals that `cost` edits from `middle` reach inside the box; every other one
 * counts.
 */
function diagonals(
  middle: number,
  cost: number,
  { width, height }: Pick<Search, 'width' | 'height'>,
): readonly [low: number, high: number] {
  const low = middle - cost;
  const high = middle + cost;
  return [
    low < -height ? -height + ((low + height) & 1) : low,
    high > width ? width - ((high - width) & 1) : high,
  ];
}
