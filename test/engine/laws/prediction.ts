import type { Verb } from './deeds.ts';
import { isSameDoc } from './doc.ts';
import {
  compose,
  type Disk,
  type Id,
  inOrder,
  type Layer,
  type Model,
  type Planned,
  plan,
  planUndo,
  type Side,
  type Transaction,
  treeOf,
  worksOf,
} from './model.ts';
import type { World } from './world.ts';

/** The expected effect of a verb: the tree and the installation afterwards, or the conflicts that stop it. */
export type Prediction = Planned & { readonly model: Model };

export type Situation = {
  readonly world: World;
  readonly model: Model;
  readonly disk: Disk;
  /** Oldest first; null where a kill left it open which of two is the last. */
  readonly done: readonly Transaction[] | null;
  /** The version of each package below `skills/`. */
  readonly offered: ReadonlyMap<string, Layer>;
  readonly customisations: number;
};

/** Null for a verb that has nothing to work on here. */
export function predict(at: Situation, verb: Verb, choice: Side | null): Prediction | null {
  const { model, world } = at;
  switch (verb.kind) {
    case 'apply': {
      const fresh = freshNames(at, verb.names);
      const layers = fresh.flatMap((name) => at.offered.get(name) ?? []);
      return fresh.length === 0 ? null : publish(at, [...model.layers, ...layers], choice);
    }
    case 'remove': {
      const names = appliedNames(at, verb.names);
      return names.length === 0 ? null : publish(at, without(model.layers, names), choice);
    }
    case 'drop': {
      const name = customName(at, verb.nth);
      return name === null ? null : publish(at, without(model.layers, [name]), choice);
    }
    case 'upgrade': {
      const names = appliedNames(at, verb.names);
      const newer = world.skills.flatMap(({ name, versions }) =>
        names.includes(name) ? [versions[1]] : [],
      );
      if (newer.length === 0 || (isFlat(at) && names.includes('delta'))) return null;
      return publish(at, [...without(model.layers, names), ...newer], choice);
    }
    case 'update':
      return verb.release < model.release ? null : publish(at, model.layers, choice, verb.release);
    case 'customize':
      return customize(at);
    case 'rebase':
      return rebase(at);
    case 'replay':
      return hasEditsOnLayers(at) ? null : publish(at, model.layers, choice);
    case 'undo': {
      const last = at.done?.at(-1);
      if (last === undefined) return null;
      return { ...planUndo(last, at.disk, choice), model: last.before };
    }
  }
}

export function freshNames(at: Situation, names: readonly string[]): readonly string[] {
  const isThere = (name: string) => at.model.layers.some((layer) => layer.name === name);
  // What was rebased holds delta's renamed file as its own: two of them would only conflict.
  return names.filter((name) => !isThere(name) && !(name === 'delta' && isFlat(at)));
}

export function appliedNames(at: Situation, names: readonly string[]): readonly string[] {
  return names.filter((name) => at.model.layers.some((layer) => layer.name === name));
}

export function customName({ model }: Situation, nth: number): string | null {
  const customs = model.layers.filter(({ isCustom }) => isCustom);
  return customs[nth % Math.max(customs.length, 1)]?.name ?? null;
}

export function customDescription({ customisations }: Situation): string {
  return `edit ${customisations}`;
}

function isFlat({ model }: Situation): boolean {
  return model.layers.some(({ name }) => name === 'custom-rebased');
}

function without(layers: readonly Layer[], names: readonly string[]): readonly Layer[] {
  return layers.filter(({ name }) => !names.includes(name));
}

function publish(
  { world, model, disk }: Situation,
  layers: readonly Layer[],
  choice: Side | null,
  release = model.release,
): Prediction {
  const core = world.releases[release]?.core ?? world.core;
  const target = compose(core, inOrder(layers), model.recordings, choice);
  const planned = plan(model.published, disk, target, choice);
  const { recordings } = target;
  return { ...planned, model: { release, layers: target.layers, recordings, published: target } };
}

function customize(at: Situation): Prediction {
  const { model, disk } = at;
  const works = worksOf(treeOf(model.published), disk, (path) => idOf(at, path));
  if (works.length === 0) return unchanged(at);
  const name = `custom-edit-${at.customisations}`;
  const layer = { name, version: 1, isCustom: true, works, setting: null };
  return publish(at, [...model.layers, layer], null);
}

function rebase(at: Situation): Prediction {
  const { world, model, disk } = at;
  const release = world.releases[model.release];
  const core = release?.core ?? world.core;
  const ids = new Map([...core.docs.keys()].map((id) => [core.moves.get(id) ?? id, id]));
  const works = worksOf(release?.files ?? core.docs, disk, (path) => ids.get(path) ?? path);
  const isUnedited = worksOf(treeOf(model.published), disk, (path) => path).length === 0;
  const isOne = model.layers.length === 1 && model.layers[0]?.name === 'custom-rebased';
  if (works.length === 0 || (isOne && isUnedited)) return unchanged(at);
  const layer = { name: 'custom-rebased', version: 1, isCustom: true, works, setting: null };
  const target = compose(core, [layer], model.recordings, null);
  return {
    disk,
    conflicts: new Set(),
    moves: [],
    model: { ...model, layers: [layer], published: target },
  };
}

function unchanged({ model, disk }: Situation): Prediction {
  return { disk, conflicts: new Set(), moves: [], model };
}

function idOf({ model }: Situation, path: string): Id {
  const found = [...model.published.paths].find(([, present]) => present === path);
  return found?.[0] ?? path;
}

/** Replay takes a disk with edits in composed files for a mixed tree: its own tests say how. */
function hasEditsOnLayers({ world, model, disk }: Situation): boolean {
  const released = world.releases[model.release]?.files ?? new Map();
  const published = treeOf(model.published);
  const paths = new Set([...released.keys(), ...published.keys()]);
  return [...paths].some(
    (path) =>
      !isSameDoc(published.get(path) ?? null, released.get(path) ?? null) &&
      !isSameDoc(published.get(path) ?? null, disk.get(path) ?? null),
  );
}
