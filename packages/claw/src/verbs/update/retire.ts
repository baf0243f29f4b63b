import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { compose } from '../../compose/compose.ts';
import type { Composition } from '../../compose/composition.ts';
import { layersWithEffect } from '../../compose/layers-with-effect.ts';
import { type Conflict, conflictFile } from '../../conflict.ts';
import { MergeCache } from '../../installed/merge-cache.ts';
import type { Resolution } from '../../installed/resolution.ts';
import type { State } from '../../installed/state-file.ts';
import type { UpdateOptions } from '../../operation/update-options.ts';
import { addedFile, baseFile, modifiedFile } from '../../package/accessors.ts';
import { mapPath, type PathMap } from '../../package/manifest/path-map.ts';
import { dependencesOf, orderLayers } from '../../package/order.ts';
import { hasChanges, originOf } from '../../package/origin.ts';
import type { SkillPackage } from '../../package/package.ts';
import { resolveCommit } from '../../repository/git.ts';
import {
  notInHistory,
  patchesSince,
  patchOf,
  revertedSince,
} from '../../repository/git-patches.ts';

/** Asks the owner something that is answered by yes or no. */
export type Ask = (question: string) => Promise<boolean>;

/** A layer that a release contains. */
type ContainedLayer = {
  readonly name: string;
  readonly kind: SkillPackage['kind'];
  /** The number of its commits, all of which the release has; 0 where that is not known. */
  readonly commits: number;
  /** The tree would be another one without it all the same. */
  readonly hasEffect: boolean;
  /** The release has brought all that it did: it had an effect before. */
  readonly isNews: boolean;
};

/** The plan for layers that the release contains; `open` ones are for the owner to decide. */
type RetirementPlan = Retirement & {
  readonly contained: readonly (ContainedLayer & { readonly fate: 'retired' | 'stays' | 'open' })[];
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
  const fateOf = (one: ContainedLayer) => {
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
  contained: readonly ContainedLayer[],
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

/** A release and the layers to compose on it. */
type ContainmentInput = {
  readonly root: string;
  /** One cache for all compositions: reading and writing it for each layer would take most of the time. */
  readonly merges: Pick<MergeCache, 'merge'>;
  readonly state: State;
  readonly layers: readonly SkillPackage[];
  readonly releaseFile: (path: string) => TreeFile | null;
  readonly pathMaps: readonly PathMap[];
  readonly resolutions: readonly Resolution[];
  /** Layers that stay with all they do, by the owner's word. */
  readonly keep: readonly string[];
  /** The commits of the old core and of the release; null where they are none. */
  readonly since: string | null;
  readonly commit: string | null;
};

/**
 * Finds the layers that a release contains. Either all their commits are in its history, or in it as other
 * commits with the same patch; or their changes would change nothing any more.
 *
 * @returns with them the layers whose commits it has and did not take back
 */
async function findContained(input: ContainmentInput): Promise<{
  readonly contained: readonly ContainedLayer[];
  readonly released: ReadonlySet<string>;
}> {
  const { layers, state, keep } = input;
  const { commitsOf, takenBack } = await releasedCommits(input);
  const names = [...commitsOf.keys()].filter((name) => !takenBack.has(name));
  const givingWay = new Set(names.filter((name) => !keep.includes(name)));
  const contained = layers.flatMap((layer): readonly ContainedLayer[] => {
    const { kind, manifest } = layer;
    const name = manifest.skill;
    const isChange =
      hasChanges(manifest) &&
      layersWithEffect(composedWith(layer, input, givingWay), input.releaseFile).has(name);
    const commits = commitsOf.get(name) ?? 0;
    if (!hasChanges(manifest) || (isChange && commits === 0)) return [];
    const before = state.layers.find((one) => one.name === name);
    const isNews = before !== undefined && before.changesNothing !== true;
    return [{ name, kind, commits, hasEffect: isChange, isNews }];
  });
  return { contained, released: new Set(names) };
}

/** Composes a skill on the release with only the skills that it needs; a customisation with all layers. */
function composedWith(
  layer: SkillPackage,
  input: ContainmentInput,
  released: ReadonlySet<string>,
): Composition {
  const { merges, layers, releaseFile: release, pathMaps, resolutions } = input;
  const find = (name: string) => layers.find(({ manifest }) => manifest.skill === name);
  const needed = layer.kind === 'skill' ? [...dependencesOf([layer], find), layer] : layers;
  const answers = { decisions: [], resolutions, released };
  const ordered = orderLayers(needed);
  return compose({
    release,
    layers: ordered,
    answers,
    pathMaps,
    merge: merges.merge,
    yieldsFiles: true,
  });
}

/**
 * Returns the patch id of what a layer changes, of which nothing says what commits it was made of; null where it is
 * no change that one commit could have made, or none that the release meets.
 */
async function ownPatch(layer: SkillPackage, input: ContainmentInput): Promise<string | null> {
  const { adds, modifies, fileOps, coreVersion } = layer.manifest;
  const isMet = modifies.some((named) => {
    const there = input.releaseFile(mapPath(named, coreVersion, input.pathMaps));
    return !isSameFile(there, baseFile(layer, named));
  });
  const isPlain =
    fileOps.length === 0 && !hasChanges({ ...layer.manifest, adds: [], modifies: [] });
  if (!isMet || !isPlain) return null;
  const side = (paths: readonly string[], read: typeof baseFile) =>
    paths.flatMap((path) => {
      const file = read(layer, path);
      return file === null ? [] : [[path, file] as const];
    });
  return await patchOf(
    new Map(side(modifies, baseFile)),
    new Map([...side(modifies, modifiedFile), ...side(adds, addedFile)]),
  );
}

type Released = {
  /** How many commits each layer was made of, for layers whose commits the release all has. */
  readonly commitsOf: ReadonlyMap<string, number>;
  /** Those of them of which the release has taken a commit back. */
  readonly takenBack: ReadonlySet<string>;
};

async function releasedCommits(input: ContainmentInput): Promise<Released> {
  const { root, layers, commit } = input;
  const [commitsOf, takenBack] = [new Map<string, number>(), new Set<string>()];
  if (commit === null) return { commitsOf, takenBack };
  const isKnown = input.since !== null && (await resolveCommit(root, input.since)) !== null;
  // Without the commit where its own history begins, none of its patches are known.
  const since = isKnown ? input.since : null;
  const loaded: { patches?: Patches; reverted?: ReadonlySet<string> } = {};
  const patches = async () => {
    loaded.patches ??= since === null ? new Map() : await patchesSince(root, since, commit);
    return loaded.patches;
  };
  for (const layer of layers) {
    const there = await commitsThere(layer, { ...input, commit, patches });
    if (there === null) continue;
    const name = layer.manifest.skill;
    commitsOf.set(name, Object.keys(originOf(layer)?.commits ?? there).length);
    loaded.reverted ??= await revertedSince(root, since, commit);
    if (there.some((one) => loaded.reverted?.has(one))) takenBack.add(name);
  }
  return { commitsOf, takenBack };
}

type Patches = ReadonlyMap<string, string>;

type Lookup = ContainmentInput & {
  readonly commit: string;
  /** The commits of the release since the old core, by their patch ids. */
  readonly patches: () => Promise<Patches>;
};

/** Returns the commits that a layer was made of and those of the release that do the same; null where one is not there. */
async function commitsThere(layer: SkillPackage, input: Lookup): Promise<readonly string[] | null> {
  const { root, commit, since, patches } = input;
  const origin = originOf(layer);
  if (origin === null) {
    const own = since === null ? null : await ownPatch(layer, input);
    const there = own === null ? undefined : (await patches()).get(own);
    return there === undefined ? null : [there];
  }
  const commits = Object.keys(origin.commits);
  const missing = await notInHistory(root, commits, commit);
  if (missing.length === 0) return commits;
  const known = await patches();
  const whole = known.get(origin.patch ?? '');
  if (whole !== undefined) return [...commits, whole];
  const found = missing.flatMap((one) => known.get(origin.commits[one] ?? '') ?? []);
  return found.length < missing.length ? null : [...commits, ...found];
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
  contained: readonly ContainedLayer[],
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
  contained: readonly ContainedLayer[],
  { keep, retire, retireContained }: UpdateOptions,
): readonly ContainedLayer[] {
  if (retireContained) return [];
  return contained.filter(
    (one) =>
      !keep.includes(one.name) && !retire.includes(one.name) && !isHarmless(one) && one.isNews,
  );
}

/** Tells whether a skill can retire by itself. A recorded edit of the owner's goes only by their word. */
function isHarmless({ kind, hasEffect, isNews }: ContainedLayer): boolean {
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
  gone: readonly ContainedLayer[],
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

function containedText({ name, commits }: ContainedLayer): string {
  if (commits === 0) return `The release does all that ${name} did.`;
  return commits === 1
    ? `The release contains the commit that ${name} was made of.`
    : `The release contains all ${commits} commits that ${name} was made of.`;
}

function retiredNote(one: ContainedLayer): string {
  const { name, commits, hasEffect } = one;
  const same =
    commits === 0
      ? ' No byte of the tree changes by that.'
      : ' What it has made of them since stays.';
  return `${containedText(one)} ${name} is retired.${hasEffect ? '' : same} Its tests and SKILL.md leave with it; --keep ${name} keeps it.`;
}

function neededNote({ name }: ContainedLayer): string {
  return `${name} stays, although the release contains it: another layer needs it.`;
}

function offerNote(one: ContainedLayer): string {
  return (
    `${containedText(one)} It stays; --retire-contained takes it out with this update, and so all ` +
    `that the release contains. --keep ${one.name} is the word that it stays.`
  );
}
