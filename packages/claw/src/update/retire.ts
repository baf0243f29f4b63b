import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { compose } from '../compose/compose.ts';
import { type Conflict, conflictFile } from '../conflict.ts';
import { MergeCache } from '../installed/merge-cache.ts';
import type { UpdateOptions } from '../operation/update-options.ts';
import { orderLayers } from '../package/order.ts';
import type { SkillPackage } from '../package/package.ts';
import { type Contained, type ContainmentInput, findContained } from './contained.ts';

/** Asks the owner something that is answered by yes or no. */
export type Ask = (question: string) => Promise<boolean>;

/** The plan for layers that the release contains; `open` ones are for the owner to decide. */
type RetirementPlan = Retirement & {
  readonly contained: readonly (Contained & { readonly fate: 'retired' | 'stays' | 'open' })[];
  /** With what the owner answered. */
  readonly options: UpdateOptions;
  /** Layers that stay, and give way where they disagree with the release, which has their commits. */
  readonly released: ReadonlySet<string>;
  /** Layers that would be among them but for the owner's word. */
  readonly kept: readonly string[];
};

/**
 * Finds the layers that a release contains, asks about those that would still change something, and takes
 * out what may go.
 */
export async function retireLayers(
  layers: readonly SkillPackage[],
  surroundings: Omit<ContainmentInput, 'layers' | 'merges' | 'keep'>,
  given: { readonly options: UpdateOptions; readonly ask: Ask | null },
): Promise<RetirementPlan> {
  const merges = new MergeCache(surroundings.root);
  const { keep } = given.options;
  const input = { ...surroundings, merges, keep };
  const { contained, released } = await findContained({ ...input, layers });
  const options = await answered(contained, given);
  const givingWay = new Set([...released].filter((name) => !options.keep.includes(name)));
  const retirement = retireContained(layers, contained, options, (some) =>
    composedTree(some, input, givingWay),
  );
  merges.save();
  const open = openQuestions(contained, options);
  const fateOf = (one: Contained) => {
    if (retirement.retired.includes(one.name)) return 'retired';
    return open.includes(one) ? 'open' : 'stays';
  };
  return {
    ...retirement,
    contained: contained.map((one) => ({ ...one, fate: fateOf(one) })),
    options,
    released: givingWay,
    kept: [...released].filter((name) => options.keep.includes(name)),
  };
}

async function answered(
  contained: readonly Contained[],
  { options, ask }: { readonly options: UpdateOptions; readonly ask: Ask | null },
): Promise<UpdateOptions> {
  const [retire, keep] = [[...options.retire], [...options.keep]];
  for (const one of ask === null ? [] : openQuestions(contained, options)) {
    const question = `${containedText(one)} Take ${one.name} out with this update?`;
    ((await ask?.(question)) ? retire : keep).push(one.name);
  }
  return { ...options, retire, keep };
}

function composedTree(
  layers: readonly SkillPackage[],
  input: Omit<ContainmentInput, 'layers'>,
  released: ReadonlySet<string>,
): PlannedTree {
  const { merges, releaseFile: release, pathMaps, resolutions } = input;
  const answers = { decisions: [], resolutions, released };
  const ordered = orderLayers(layers);
  const composed = compose({
    release,
    layers: ordered,
    answers,
    pathMaps,
    merge: merges.merge,
    yieldsFiles: true,
  });
  return {
    paths: composed.files.keys(),
    file: (path) =>
      composed.files.has(path) ? (composed.files.get(path)?.file ?? null) : release(path),
    conflicts: composed.conflicts,
  };
}

/** The outcome for the layers that a release contains. */
type Retirement = {
  readonly layers: readonly SkillPackage[];
  readonly retired: readonly string[];
  readonly notes: readonly string[];
};

/** The result of composing layers on a release. */
type PlannedTree = {
  readonly paths: Iterable<string>;
  readonly file: (path: string) => TreeFile | null;
  readonly conflicts: readonly Conflict[];
};

/**
 * Takes out of the layers what the release contains: what the owner let go, and without a word of
 * theirs the skills without which no byte would be another one. What another layer needs stays.
 *
 * @param compose what layers come to on the release
 */
function retireContained(
  layers: readonly SkillPackage[],
  contained: readonly Contained[],
  options: UpdateOptions,
  tree: (layers: readonly SkillPackage[]) => PlannedTree,
): Retirement {
  const free = contained.filter(({ name }) => !options.keep.includes(name));
  const named = free.filter(({ name }) => options.retireContained || options.retire.includes(name));
  const silent = free.filter((one) => !named.includes(one) && isHarmless(one));
  const isHarmlessTogether =
    silent.length > 0 && isSameTree(tree(layers), tree(without(layers, silent)));
  const wanted = [...named, ...(isHarmlessTogether ? silent : [])].map(({ name }) => name);
  const retired = unneeded(layers, wanted);
  const isGone = (name: string) => retired.includes(name);
  return {
    layers: layers.filter(({ manifest }) => !isGone(manifest.skill)),
    retired,
    notes: contained.flatMap((one) => {
      if (isGone(one.name)) return [retiredNote(one)];
      if (options.keep.includes(one.name) || !one.isNews) return [];
      return wanted.includes(one.name) ? [neededNote(one)] : [offerNote(one)];
    }),
  };
}

/**
 * Returns the layers about which the owner has to be asked: what goes by itself, or stays, is said in the
 * plan.
 */
function openQuestions(
  contained: readonly Contained[],
  { keep, retire, retireContained }: UpdateOptions,
): readonly Contained[] {
  if (retireContained) return [];
  return contained.filter(
    (one) =>
      !keep.includes(one.name) && !retire.includes(one.name) && !isHarmless(one) && one.isNews,
  );
}

/** Tells whether a skill can retire by itself. A recorded edit of the owner's goes only by their word. */
function isHarmless({ kind, hasEffect, isNews }: Contained): boolean {
  return kind === 'skill' && !hasEffect && isNews;
}

/** Drops the names of layers that one which stays depends on. */
function unneeded(layers: readonly SkillPackage[], wanted: readonly string[]): readonly string[] {
  const needed = layers
    .filter(({ manifest }) => !wanted.includes(manifest.skill))
    .flatMap(({ manifest }) => manifest.depends.map(({ name }) => name));
  const left = wanted.filter((name) => !needed.includes(name));
  return left.length === wanted.length ? left : unneeded(layers, left);
}

function without(
  layers: readonly SkillPackage[],
  gone: readonly Contained[],
): readonly SkillPackage[] {
  return layers.filter(({ manifest }) => !gone.some(({ name }) => name === manifest.skill));
}

/**
 * Compares two compositions, except for conflicted files: those are for the owner to decide, with or without
 * a layer.
 */
function isSameTree(one: PlannedTree, other: PlannedTree): boolean {
  const open = new Set([...one.conflicts, ...other.conflicts].map(conflictFile));
  const paths = [...one.paths].filter((path) => !open.has(path));
  return paths.every((path) => isSameFile(one.file(path), other.file(path)));
}

function containedText({ name, commits }: Contained): string {
  if (commits === 0) return `The release does all that ${name} did.`;
  return commits === 1
    ? `The release contains the commit that ${name} was made of.`
    : `The release contains all ${commits} commits that ${name} was made of.`;
}

function retiredNote(one: Contained): string {
  const { name, commits, hasEffect } = one;
  const same =
    commits === 0
      ? ' No byte of the tree changes by that.'
      : ' What it has made of them since stays.';
  return `${containedText(one)} ${name} is retired.${hasEffect ? '' : same} Its tests and SKILL.md leave with it; --keep ${name} keeps it.`;
}

function neededNote({ name }: Contained): string {
  return `${name} stays, although the release contains it: another layer needs it.`;
}

function offerNote(one: Contained): string {
  return (
    `${containedText(one)} It stays; --retire-contained takes it out with this update, and so all ` +
    `that the release contains. --keep ${one.name} is the word that it stays.`
  );
}
