import type { MergeCache } from '../cache/merges.ts';
import { compose } from '../compose/compose.ts';
import type { Composition } from '../compose/composition.ts';
import { hasEffect } from '../compose/effect.ts';
import type { PathMap } from '../package/manifest/path-map.ts';
import { dependencesOf, orderLayers } from '../package/order.ts';
import { hasChanges, originOf } from '../package/origin.ts';
import type { SkillPackage } from '../package/package.ts';
import { resolveCommit } from '../state/git.ts';
import { notInHistory, patchesSince } from '../state/git-patches.ts';
import type { Resolution } from '../state/resolution.ts';
import type { State } from '../state/state-file.ts';
import type { TreeFile } from '../tree.ts';

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
  /** The commits of the old core and of the release; null where they are none. */
  readonly since: string | null;
  readonly commit: string | null;
};

/**
 * Finds the layers that a release contains. Either all their commits are in its history, or in it as other
 * commits with the same patch; or their changes would change nothing any more.
 */
export async function findContained(input: ContainmentInput): Promise<readonly Contained[]> {
  const { layers, state } = input;
  const released = await releasedCommits(input);
  return layers.flatMap((layer): readonly Contained[] => {
    const { kind, manifest } = layer;
    const name = manifest.skill;
    const isChange =
      hasChanges(manifest) && hasEffect(layer, composedWith(layer, input), input.releaseFile);
    const commits = released.get(name) ?? 0;
    if (!hasChanges(manifest) || (isChange && commits === 0)) return [];
    const before = state.layers.find((one) => one.name === name);
    const isNews = before !== undefined && before.changesNothing !== true;
    return [{ name, kind, commits, hasEffect: isChange, isNews }];
  });
}

/** Composes a skill on the release with only the skills that it needs; a customisation with all layers. */
function composedWith(layer: SkillPackage, input: ContainmentInput): Composition {
  const { merges, layers, releaseFile: release, pathMaps, resolutions } = input;
  const find = (name: string) => layers.find(({ manifest }) => manifest.skill === name);
  const needed = layer.kind === 'skill' ? [...dependencesOf([layer], find), layer] : layers;
  const answers = { decisions: [], resolutions };
  const ordered = orderLayers(needed);
  return compose({ release, layers: ordered, answers, pathMaps, merge: merges.merge });
}

/** Returns the release's patches since the old core; none without the commit where its own history begins. */
async function readPatches(
  root: string,
  since: string | null,
  commit: string,
): Promise<ReadonlySet<string>> {
  const isKnown = since !== null && (await resolveCommit(root, since)) !== null;
  return isKnown ? await patchesSince(root, since, commit) : new Set();
}

/** @returns how many commits each layer was made of, for layers whose commits the release all has */
async function releasedCommits(input: ContainmentInput): Promise<ReadonlyMap<string, number>> {
  const { root, layers, since, commit } = input;
  const found = new Map<string, number>();
  if (commit === null) return found;
  let patches: ReadonlySet<string> | null = null;
  for (const layer of layers) {
    const origin = originOf(layer);
    if (origin === null) continue;
    const commits = Object.keys(origin.commits);
    const missing = await notInHistory(root, commits, commit);
    if (missing.length > 0) patches ??= await readPatches(root, since, commit);
    const isThere = (patch: string | null | undefined) =>
      patch != null && patches?.has(patch) === true;
    if (isThere(origin.patch) || missing.every((one) => isThere(origin.commits[one]))) {
      found.set(layer.manifest.skill, commits.length);
    }
  }
  return found;
}
