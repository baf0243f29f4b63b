import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { compose } from '../compose/compose.ts';
import type { Composition } from '../compose/composition.ts';
import { layersWithEffect } from '../compose/effect.ts';
import type { MergeCache } from '../installed/merge-cache.ts';
import type { Resolution } from '../installed/resolution.ts';
import type { State } from '../installed/state-file.ts';
import { addedFile, baseFile, modifiedFile } from '../package/accessors.ts';
import { mapPath, type PathMap } from '../package/manifest/path-map.ts';
import { dependencesOf, orderLayers } from '../package/order.ts';
import { hasChanges, originOf } from '../package/origin.ts';
import type { SkillPackage } from '../package/package.ts';
import { resolveCommit } from '../repository/git.ts';
import { notInHistory, patchesSince, patchOf, revertedSince } from '../repository/git-patches.ts';

/** A layer that a release contains. */
export type Contained = {
  readonly name: string;
  readonly kind: SkillPackage['kind'];
  /** The number of its commits, all of which the release has; 0 where that is not known. */
  readonly commits: number;
  /** The tree would be another one without it all the same. */
  readonly hasEffect: boolean;
  /** The release has brought all that it did: it had an effect before. */
  readonly isNews: boolean;
};

/** A release and the layers to compose on it. */
export type ContainmentInput = {
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
export async function findContained(
  input: ContainmentInput,
): Promise<{ readonly contained: readonly Contained[]; readonly released: ReadonlySet<string> }> {
  const { layers, state, keep } = input;
  const { commitsOf, takenBack } = await releasedCommits(input);
  const names = [...commitsOf.keys()].filter((name) => !takenBack.has(name));
  const givingWay = new Set(names.filter((name) => !keep.includes(name)));
  const contained = layers.flatMap((layer): readonly Contained[] => {
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
