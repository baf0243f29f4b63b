import type { Versions } from '@patchclaw/merge';
import type { Node } from 'jsonc-parser';
import { type JsonText, membersOf, readJson, textOf } from './json/json-text.ts';

/**
 * Orders the keys of a merged map as theirs does, where ours has the keys of base in their order. So the place
 * of a key that both added is that of theirs. A key that theirs does not have stays after the one that it
 * followed.
 *
 * @param merged all keys of the result, in the order of ours
 * @returns null where the order of ours stays
 */
export function orderOfTheirs(
  merged: readonly string[],
  { base, ours, theirs }: Versions<readonly string[]>,
): readonly string[] | null {
  // Settings may hold a key twice; then there is no one order.
  if ([merged, theirs].some((keys) => new Set(keys).size !== keys.length)) return null;
  const [inBase, inOurs, inTheirs] = [new Set(base), new Set(ours), new Set(theirs)];
  const before = base.filter((key) => inOurs.has(key) && inTheirs.has(key));
  const isAsBefore = isSameList(
    ours.filter((key) => inBase.has(key) && inTheirs.has(key)),
    before,
  );
  if (!isAsBefore || isSameOrder(ours, theirs)) return null;
  const present = new Set(merged);
  const ordered = theirs.filter((key) => present.has(key));
  for (const [at, key] of merged.entries()) {
    if (inTheirs.has(key)) continue;
    const previous = merged[at - 1];
    ordered.splice(previous === undefined ? 0 : ordered.indexOf(previous) + 1, 0, key);
  }
  return ordered;
}

/** Tells whether the keys that two maps share are in one order. */
export function isSameOrder(one: readonly string[], other: readonly string[]): boolean {
  const [inOne, inOther] = [new Set(one), new Set(other)];
  return isSameList(
    one.filter((key) => inOther.has(key)),
    other.filter((key) => inOne.has(key)),
  );
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, at) => key === other[at]);
}

/**
 * Orders the keys of every object of a merged JSON text as theirs does, where theirs changed the order and
 * ours did not. Only members change places: what is between them stays.
 */
export function ordered(text: string, { base, ours, theirs }: Versions<JsonText>): string {
  const merged = readJson(Buffer.from(text));
  if ('line' in merged) return text;
  const { root } = merged;
  const written = orderedObject(text, root, {
    base: base.root,
    ours: ours.root,
    theirs: theirs.root,
  });
  return text.slice(0, root.offset) + written + text.slice(root.offset + root.length);
}

function orderedObject(text: string, node: Node, sides: Versions<Node>): string {
  const members = {
    base: membersOf(sides.base),
    ours: membersOf(sides.ours),
    theirs: membersOf(sides.theirs),
  };
  const texts = new Map<string, string>();
  for (const [key, value] of membersOf(node)) {
    const [base, ours, theirs] = [members.base, members.ours, members.theirs].map((side) =>
      side.get(key),
    );
    const property = value.parent;
    if (property === undefined) return textOf(text, node);
    const isObject = [value, base, ours, theirs].every((one) => one?.type === 'object');
    const label = text.slice(property.offset, value.offset);
    const body =
      isObject && base !== undefined && ours !== undefined && theirs !== undefined
        ? orderedObject(text, value, { base, ours, theirs })
        : textOf(text, value);
    texts.set(key, label + body);
  }
  const keys = [...texts.keys()];
  const order =
    orderOfTheirs(keys, {
      base: [...members.base.keys()],
      ours: [...members.ours.keys()],
      theirs: [...members.theirs.keys()],
    }) ?? keys;
  return withMembers(
    text,
    node,
    order.map((key) => texts.get(key) ?? ''),
  );
}

/** Returns the object with other members in the places of its present ones. */
function withMembers(text: string, node: Node, members: readonly string[]): string {
  let end = node.offset;
  let written = '';
  for (const [at, property] of (node.children ?? []).entries()) {
    written += text.slice(end, property.offset) + (members[at] ?? '');
    end = property.offset + property.length;
  }
  return written + text.slice(end, node.offset + node.length);
}
