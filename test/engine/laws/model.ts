import { type Ask, conflictPath, type Doc, ENV_KEYS, isSameDoc, mergeDocs } from './doc.ts';

// What the tree has to be, told without the engine: composed(release, layers) + edits.

/** A file through all its names: the path at which it first was. */
export type Id = string;

export type Work =
  | { readonly kind: 'modify'; readonly id: Id; readonly base: Doc; readonly after: Doc }
  | { readonly kind: 'add'; readonly id: Id; readonly after: Doc }
  | { readonly kind: 'delete'; readonly id: Id; readonly base: Doc }
  | { readonly kind: 'rename'; readonly id: Id; readonly to: string };

export type Layer = {
  readonly name: string;
  readonly version: number;
  readonly isCustom: boolean;
  readonly works: readonly Work[];
  /** The setting that it declares, by its place among all of them. */
  readonly setting: number | null;
};

export type Core = {
  readonly docs: ReadonlyMap<Id, Doc>;
  /** Present paths of files that were renamed. */
  readonly moves: ReadonlyMap<Id, string>;
};

export type Side = 'ours' | 'theirs';

/** The installation. */
export type Model = {
  readonly release: number;
  /** Skills by name, then customisations in the order they were made. */
  readonly layers: readonly Layer[];
  readonly recordings: ReadonlyMap<string, Side>;
  readonly published: Composed;
};

export type Composed = {
  readonly docs: ReadonlyMap<Id, Doc>;
  readonly paths: ReadonlyMap<Id, string>;
  readonly conflicts: ReadonlySet<string>;
  /** Layers as they stand after decisions: customisations written against what is there now. */
  readonly layers: readonly Layer[];
  readonly recordings: ReadonlyMap<string, Side>;
};

export type Disk = ReadonlyMap<string, Doc>;

export const ENV_ID = '.env.example';

/** Skills by name, customisations behind them as they came. */
export function inOrder(layers: readonly Layer[]): readonly Layer[] {
  const skills = layers.filter(({ isCustom }) => !isCustom);
  const byName = (one: Layer, other: Layer) => (one.name < other.name ? -1 : 1);
  return [...skills.sort(byName), ...layers.filter(({ isCustom }) => isCustom)];
}

/** The release with each layer on it; `choice` resolves whatever is open. */
export function compose(
  core: Core,
  layers: readonly Layer[],
  known: ReadonlyMap<string, Side>,
  choice: Side | null,
): Composed {
  const docs = new Map<Id, Doc>(core.docs);
  const paths = new Map(core.moves);
  const touches = new Map<Id, Touch[]>();
  const conflicts = new Set<string>();
  const recordings = new Map(known);
  const result: Layer[] = [];
  const pathOf = (id: Id) => paths.get(id) ?? id;

  const touch = (id: Id, one: Touch) => touches.set(id, [...(touches.get(id) ?? []), one]);

  const work = (layer: Layer, one: Work): Work | null => {
    if (one.kind === 'rename') {
      paths.set(one.id, one.to);
      const doc = docs.get(one.id) ?? null;
      touch(one.id, { layer: layer.name, before: doc, after: doc });
      return one;
    }
    const path = pathOf(one.id);
    const ours = docs.get(one.id) ?? null;
    if (one.kind === 'delete' && ours === null) return one;
    const base = one.kind === 'add' ? null : one.base;
    const theirs = one.kind === 'delete' ? null : one.after;
    if (conflicts.has(path)) return one;
    let isDecided = false;
    const ask: Ask = ({ slot, sides, eol }) => {
      // The same whole files wherever they come from; else the same lines between the same layers.
      const whole = recordingKey([path], slot, { base, ours, theirs });
      const author = authorOf(touches.get(one.id) ?? [], slot, base, ours);
      const likely = recordingKey([path, author, layer.name], slot, [sides, eol]);
      const recorded = recordings.get(whole) ?? (slot === null ? null : recordings.get(likely));
      if (recorded || choice === null) return recorded ?? null;
      isDecided = true;
      if (!layer.isCustom) recordings.set(whole, choice).set(likely, choice);
      return choice;
    };
    const { doc, open } = mergeDocs({ base, ours, theirs }, ask);
    const style = (ours ?? theirs)?.style ?? 'text';
    for (const slot of open) conflicts.add(conflictPath(path, style, slot));
    if (open.length > 0) return one;
    if (doc === null) docs.delete(one.id);
    else docs.set(one.id, doc);
    touch(one.id, { layer: layer.name, before: ours, after: doc });
    return isDecided && layer.isCustom ? reanchored(one.id, ours, doc) : one;
  };

  for (const layer of layers) {
    const order = ['rename', 'delete', 'add', 'modify'];
    const rank = ({ kind }: Work) => order.indexOf(kind);
    const sorted = [...layer.works].sort((one, other) => rank(one) - rank(other));
    const works = sorted.flatMap((one) => work(layer, one) ?? []);
    if (works.length > 0 || !layer.isCustom) result.push({ ...layer, works });
    const last = layers.findLast(({ isCustom }) => !isCustom);
    if (layer === last) declareSettings(docs, layers);
  }
  return { docs, paths, conflicts, layers: result, recordings };
}

type Touch = { readonly layer: string; readonly before: Doc | null; readonly after: Doc | null };

/** Returns the author of the disputed value: the last layer that introduced it. */
function authorOf(
  touches: readonly Touch[],
  slot: number | null,
  base: Doc | null,
  ours: Doc | null,
): string {
  const last = touches.at(-1)?.layer ?? 'core';
  if (slot === null || touches.length === 0) return last;
  const value = ours?.slots[slot] ?? '';
  const isOut = value === '';
  const line = isOut ? (base?.slots[slot] ?? '') : value;
  const holds = (doc: Doc | null) => doc?.slots.includes(line) === true;
  const author = touches.findLast(({ before, after }) =>
    isOut ? holds(before) && !holds(after) : holds(after) && !holds(before),
  );
  if (author !== undefined) return author.layer;
  return !isOut && holds(touches[0]?.before ?? null) ? 'core' : last;
}

function recordingKey(where: readonly string[], slot: number | null, what: unknown): string {
  return JSON.stringify([...where, slot, what]);
}

/** A customisation that a decision concerned is written against what is there now. */
function reanchored(id: Id, before: Doc | null, after: Doc | null): Work | null {
  if (isSameDoc(before, after)) return null;
  if (before === null) return after && { kind: 'add', id, after };
  return after === null
    ? { kind: 'delete', id, base: before }
    : { kind: 'modify', id, base: before, after };
}

function declareSettings(docs: Map<Id, Doc>, layers: readonly Layer[]): void {
  const env = docs.get(ENV_ID);
  if (env === undefined) return;
  const slots = [...env.slots];
  for (const { setting, name } of layers) {
    if (setting !== null) slots[ENV_KEYS.length + setting] = `KEY_OF_${name.toUpperCase()}`;
  }
  docs.set(ENV_ID, { ...env, slots });
}

export type Planned = {
  readonly disk: Disk;
  readonly conflicts: ReadonlySet<string>;
  readonly moves: readonly { readonly from: string; readonly to: string }[];
};

/** Returns the disk after one composition replaces another, or the conflicts. */
export function plan(old: Composed, disk: Disk, target: Composed, choice: Side | null): Planned {
  const next = new Map(disk);
  const conflicts = new Set(target.conflicts);
  const moves: { from: string; to: string }[] = [];
  const ids = new Set([...old.docs.keys(), ...target.docs.keys()]);
  const drafts = [...ids].flatMap((id) => {
    const from = old.paths.get(id) ?? id;
    const to = target.paths.get(id) ?? id;
    if ([...target.conflicts].some((path) => path.split('#')[0] === to)) return [];
    const ours = disk.get(from) ?? null;
    const sides = { base: old.docs.get(id) ?? null, ours, theirs: target.docs.get(id) ?? null };
    const { doc, open } = mergeDocs(
      sides,
      ({ slot }) => target.recordings.get(recordingKey([to], slot, sides)) ?? choice,
    );
    const style = (ours ?? sides.theirs)?.style ?? 'text';
    for (const slot of open) conflicts.add(conflictPath(to, style, slot));
    if (from !== to && (ours !== null || doc !== null)) moves.push({ from, to });
    return open.length > 0 ? [] : [{ from, to, doc }];
  });
  for (const { from } of drafts) next.delete(from);
  for (const { to, doc } of drafts) if (doc !== null) next.set(to, doc);
  return { disk: next, conflicts, moves };
}

export type Transaction = {
  readonly before: Model;
  readonly diskBefore: Disk;
  readonly diskAfter: Disk;
  readonly moves: Planned['moves'];
};

/** Returns the disk after a transaction is taken back, with the edits made since. */
export function planUndo(
  { diskBefore, diskAfter, moves }: Transaction,
  disk: Disk,
  choice: Side | null,
): Planned {
  const next = new Map(disk);
  const conflicts = new Set<string>();
  const moved = new Set(moves.flatMap(({ from, to }) => [from, to]));
  const still = [...diskBefore.keys(), ...diskAfter.keys()].filter((path) => !moved.has(path));
  const pairs = [...moves, ...[...new Set(still)].map((path) => ({ from: path, to: path }))];
  for (const { from, to } of pairs) {
    const base = diskAfter.get(to) ?? null;
    const theirs = diskBefore.get(from) ?? null;
    if (from === to && isSameDoc(base, theirs)) continue;
    const ours = disk.get(to) ?? null;
    const { doc, open } = mergeDocs({ base, ours, theirs }, () => choice);
    const style = (ours ?? theirs)?.style ?? 'text';
    for (const slot of open) conflicts.add(conflictPath(from, style, slot));
    if (open.length > 0) continue;
    next.delete(to);
    if (doc !== null) next.set(from, doc);
  }
  return { disk: next, conflicts, moves: [] };
}

/** The owner's edits as the work of a customisation. */
export function worksOf(before: Disk, disk: Disk, idOf: (path: string) => Id): readonly Work[] {
  const paths = new Set([...before.keys(), ...disk.keys()]);
  return [...paths].flatMap((path) => {
    const [base, after] = [before.get(path) ?? null, disk.get(path) ?? null];
    return isSameDoc(base, after) ? [] : (reanchored(idOf(path), base, after) ?? []);
  });
}

/** A composition as files. */
export function treeOf({ docs, paths }: Composed): Disk {
  return new Map([...docs].map(([id, doc]) => [paths.get(id) ?? id, doc]));
}
