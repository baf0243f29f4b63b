import type { Versions } from '@patchclaw/merge';
import type { Node } from 'jsonc-parser';
import { shorten } from '../canonical-value.ts';
import { isSameOrder, ordered } from '../key-order.ts';
import { sortedPlace } from '../npm/npm.ts';
import { insertItem, type Placement, removeItem, removeValue, setValue } from './json-edit.ts';
import { canonicalJson, type JsonText, membersOf, textOf, valueAt } from './json-text.ts';

/** A key on which the two sides disagree, and what each wants there. */
export type KeyClash = { readonly keys: readonly string[]; readonly reason: string };

type Merge = {
  readonly files: Versions<JsonText>;
  /** Lists whose order says nothing, such as the image's packages. */
  readonly sets: readonly string[];
  text: string;
  readonly clashes: KeyClash[];
};

/**
 * Merges two edits of one JSON text by key: what theirs changed is written into ours, and nothing else
 * of ours is touched. Lists are one value, but for those named in `sets`. Where theirs alone changed the
 * order of an object's keys, that order is taken.
 *
 * @returns ours where the sides disagree, and a clash for each such key
 */
export function mergeJson(
  files: Versions<JsonText>,
  sets: readonly string[],
): { readonly text: string; readonly clashes: readonly KeyClash[] } {
  const merge: Merge = { files, sets, text: files.ours.text, clashes: [] };
  mergeObject(merge, [], {
    base: files.base.root,
    ours: files.ours.root,
    theirs: files.theirs.root,
  });
  return { text: ordered(merge.text, files), clashes: merge.clashes };
}

function mergeObject(
  merge: Merge,
  path: readonly string[],
  nodes: { readonly base: Node | null; readonly ours: Node; readonly theirs: Node },
): void {
  const [base, ours, theirs] = [nodes.base, nodes.ours, nodes.theirs].map(membersOf);
  for (const key of new Set([...(base?.keys() ?? []), ...(theirs?.keys() ?? [])])) {
    mergeValue(merge, [...path, key], {
      base: base?.get(key) ?? null,
      ours: ours?.get(key) ?? null,
      theirs: theirs?.get(key) ?? null,
    });
  }
}

function mergeValue(merge: Merge, path: readonly string[], nodes: Versions<Node | null>): void {
  const { base, ours, theirs } = nodes;
  if (isEqual(base, theirs) || isEqual(ours, theirs)) return;
  const isReordered = theirs?.type === 'object' && !hasOrderOf(base, ours);
  if (isEqual(base, ours) && !isReordered) {
    merge.text = theirs === null ? removeValue(merge.text, path) : writeTheirs(merge, path, theirs);
    return;
  }
  const areObjects = ours?.type === 'object' && theirs?.type === 'object';
  if (areObjects && (base === null || base.type === 'object')) {
    mergeObject(merge, path, { base, ours, theirs });
    return;
  }
  if (merge.sets.includes(path.join('.')) && ours?.type === 'array' && theirs?.type === 'array') {
    mergeSet(merge, path, { base, ours, theirs });
    return;
  }
  merge.clashes.push({
    keys: path,
    reason: `${shown(merge.files.ours, ours)} on one side, ${shown(merge.files.theirs, theirs)} on the other`,
  });
}

function mergeSet(merge: Merge, path: readonly string[], nodes: Versions<Node | null>): void {
  const [base, ours, theirs] = [nodes.base, nodes.ours, nodes.theirs].map(itemsOf);
  const items = [...(ours ?? [])];
  for (const item of base ?? []) {
    const at = items.indexOf(item);
    if (theirs?.includes(item) === true || at === -1) continue;
    merge.text = removeItem(merge.text, path, at);
    items.splice(at, 1);
  }
  for (const item of theirs ?? []) {
    if (base?.includes(item) === true || items.includes(item)) continue;
    const after = items.findIndex((other) => other > item);
    const at = after === -1 ? items.length : after;
    merge.text = insertItem(merge.text, path, { at, value: item });
    items.splice(at, 0, item);
  }
}

function writeTheirs(merge: Merge, path: readonly string[], theirs: Node): string {
  const siblings = [...membersOf(valueAt(merge.files.theirs.root, path.slice(0, -1))).keys()];
  return setValue(merge.text, path, {
    value: textOf(merge.files.theirs.text, theirs),
    place: placeLike(siblings, path.at(-1) ?? ''),
  });
}

/** Places a key in sorted order where both sides are sorted, else after the key it follows in theirs. */
function placeLike(siblings: readonly string[], key: string): Placement {
  return (keys) => {
    if (isSorted(keys) && isSorted(siblings)) return sortedPlace(keys, key);
    const before = siblings.slice(0, siblings.indexOf(key));
    const neighbour = before.findLast((name) => keys.includes(name));
    return neighbour === undefined ? keys.length : keys.indexOf(neighbour) + 1;
  };
}

function isSorted(keys: readonly string[]): boolean {
  return keys.every((key, at) => at === 0 || (keys[at - 1] ?? '').localeCompare(key, 'en') <= 0);
}

function isEqual(one: Node | null, other: Node | null): boolean {
  if (one === null || other === null) return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

function hasOrderOf(base: Node | null, ours: Node | null): boolean {
  const [before, now] = [membersOf(base), membersOf(ours)];
  if (!isSameOrder([...before.keys()], [...now.keys()])) return false;
  return [...before].every(([key, node]) => hasOrderOf(node, now.get(key) ?? null));
}

function itemsOf(node: Node | null): readonly string[] {
  return node?.type === 'array' ? (node.children ?? []).map(canonicalJson) : [];
}

function shown(file: JsonText, node: Node | null): string {
  return node === null ? 'taken out' : shorten(textOf(file.text, node));
}
