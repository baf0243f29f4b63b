import type { Composition } from '../compose/composition.ts';
import type { Conflict } from '../conflict.ts';
import { checkRelations, orderLayers } from '../skill/order.ts';
import type { SkillPackage } from '../skill/package.ts';
import { statBase } from '../state/base-digests.ts';
import { readTreeFile, treeReader } from '../state/disk.ts';
import { isSameFile, type TreeFile } from '../tree.ts';
import type { PlanningContext } from './context.ts';
import { type Installation, readInstallation, requireState } from './installation.ts';
import { pinning } from './layers.ts';
import type { Operation } from './operation.ts';
import { restorePackages } from './restore.ts';
import { composeKnown, planLayers } from './target.ts';

/**
 * Plans what `state.yaml` lists on the core of this clone. The disk may hold the bare core or the
 * composed tree; in a mixed tree, a file that is neither is a conflict.
 */
export async function planReplay(context: PlanningContext): Promise<Operation> {
  const installation = await readInstallation(context.root, {
    base: (root, core) => statBase(root, core, context.now),
  });
  const state = requireState(installation);
  const layers = await restorePackages(context, installation, state);
  checkRelations(layers);
  const found = lookAtDisk(installation, layers);
  const plan = planLayers({
    installation,
    installed: found.installed,
    wanted: layers,
    published: found.published,
    decisions: context.decisions,
    composed: context.decisions?.length ? null : found.composition,
  });
  return {
    verb: 'replay',
    arguments: [],
    installation,
    installed: found.installed,
    plan: { ...plan, conflicts: [...plan.conflicts, ...found.conflicts] },
    pin: pinning(state, new Map(), context.now()),
    warnings: [],
  };
}

type Found = {
  /** What no decision has changed yet. */
  readonly composition: Composition;
  /** The layers that the disk shows the effect of. */
  readonly installed: readonly SkillPackage[];
  readonly published: (path: string) => TreeFile | null;
  readonly conflicts: readonly Conflict[];
};

function lookAtDisk(installation: Installation, layers: readonly SkillPackage[]): Found {
  const { root, releaseFile } = installation;
  const composition = composeKnown(root, {
    release: releaseFile,
    layers: orderLayers(layers),
    answers: { decisions: [], resolutions: installation.resolutions },
    pathMaps: installation.pathMaps,
  });
  const { files } = composition;
  const read = treeReader(root);
  const bare: string[] = [];
  const composed: string[] = [];
  const neither: string[] = [];
  for (const [path, { file }] of files) {
    const released = releaseFile(path);
    if (isSameFile(file, released)) continue;
    const disk = read(path);
    if (isSameFile(disk, file)) composed.push(path);
    else if (isSameFile(disk, released)) bare.push(path);
    else neither.push(path);
  }
  if (composed.length === 0) {
    return { composition, installed: [], published: releaseFile, conflicts: [] };
  }
  const isMixed = bare.length > 0;
  const published = (path: string): TreeFile | null =>
    bare.includes(path) ? releaseFile(path) : (files.get(path)?.file ?? publishedElsewhere(path));
  const publishedElsewhere = (path: string): TreeFile | null =>
    files.has(path) ? null : releaseFile(path);
  return {
    composition,
    installed: layers,
    published,
    conflicts: isMixed
      ? neither.map((path) => mixed(root, path, releaseFile(path), files.get(path)?.file ?? null))
      : [],
  };
}

function mixed(
  root: string,
  path: string,
  base: TreeFile | null,
  theirs: TreeFile | null,
): Conflict {
  return {
    path,
    kind: 'content',
    layers: ['your edits', 'replay'],
    reason: 'Some files here are the core, others are composed, and this one is neither.',
    hunks: [],
    sides: { base, ours: readTreeFile(root, path), theirs },
    values: null,
  };
}
