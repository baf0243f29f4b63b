import type { Tree, TreeFile } from '@patchclaw/merge';
import { expect } from 'vitest';
import { OWNER } from '../../conflict.ts';
import { digestBytes } from '../../digest.ts';
import { type Resolution, resolutionKey, subjectOf } from '../../installed/resolution.ts';
import {
  alreadyPresentPaths,
  refreshCustomisationBases,
} from '../../operation/planned-tree/planned-tree.ts';
import { orderLayers } from '../../package/order.ts';
import { hasChanges } from '../../package/origin.ts';
import type { SkillPackage } from '../../package/package.ts';
import { checkCollisionsOf } from '../collisions.ts';
import { compose } from '../compose.ts';
import type { Composition } from '../composition.ts';
import { renamesOf } from '../files/renames.ts';
import { layersWithEffect } from '../layers-with-effect.ts';
import { planTree } from '../plan.ts';
import type { KnownAnswers } from '../resolve-conflict.ts';
import { coreChange, type GoldenCase } from './golden-case.ts';
import type { PlannedOutcome } from './golden-outcome.ts';

/** Composes and plans as `operation/target/target.ts` does, with trees in place of folders. */
export function planCase(given: GoldenCase, answers: KnownAnswers): PlannedOutcome {
  const oldRelease = lookUp(given.release);
  const installed = orderLayers(given.installed);
  const old = compose({ release: oldRelease, layers: installed, answers });
  expect(old.conflicts).toEqual([]);
  const published = fileIn(old, oldRelease);
  const before = (path: string) => {
    const edited = given.edits.get(path);
    return edited === undefined ? published(path) : edited;
  };
  const core = coreChange(given, old.files.keys());
  const release = lookUp(given.newRelease);
  const { pathMaps } = given;
  const ordered = orderLayers(given.wanted);
  const target = compose({ release, layers: ordered, answers, pathMaps, isJoint: true });
  const brought = core.changed.filter((path) => !given.release.has(path));
  checkCollisionsOf(target, { release, brought, isHeld: (path) => old.files.has(path) });
  const plan = planTree({
    old: {
      file: published,
      paths: [...old.files.keys(), ...core.changed],
      renames: renamesOf(installed, []),
    },
    disk: before,
    release,
    target,
    coreMoves: core.moves,
    answers,
  });
  const changes = new Map(plan.changes.map((change) => [change.path, change]));
  expect(changes.size).toBe(plan.changes.length);
  for (const change of plan.changes) expect(change.before).toEqual(before(change.path));
  const layers = refreshCustomisationBases(ordered, target, pathMaps);
  const effective = layersWithEffect(target, release);
  return {
    kind: 'planned',
    plan,
    target,
    answers,
    layers,
    disk: (path) => {
      const change = changes.get(path);
      return change === undefined ? before(path) : change.after;
    },
    rewritten: rewrittenOf(ordered, layers),
    adopted: alreadyPresentPaths(target, { disk: before, published }),
    idle: layers
      .filter(({ manifest }) => hasChanges(manifest) && !effective.has(manifest.skill))
      .map(({ manifest }) => manifest.skill),
  };
}

/**
 * Returns the recordings that the command leaves: it keeps its decisions, except those on the owner's own
 * work.
 */
export function recordingsAfter({
  answers,
  plan,
  target,
  layers,
}: PlannedOutcome): readonly Resolution[] {
  const own = new Set(
    layers.filter(({ kind }) => kind === 'customisation').map(({ manifest }) => manifest.skill),
  );
  const made = [...target.resolvedConflicts, ...plan.resolvedConflicts].flatMap(
    ({ conflict, answer, decision }) => {
      const isOwners = conflict.layers[0] === OWNER || own.has(conflict.layers[1]);
      if (decision === null || isOwners) return [];
      const subject = subjectOf(conflict);
      const key = resolutionKey(subject, answer);
      return [{ key, subject, answer, origin: 'owner', digest: digestBytes(key), isOwn: true }];
    },
  );
  return [...answers.resolutions, ...made];
}

function rewrittenOf(
  before: readonly SkillPackage[],
  after: readonly SkillPackage[],
): ReadonlyMap<string, SkillPackage | null> {
  const found = new Map(after.map((layer) => [layer.manifest.skill, layer]));
  const names = before.map((layer) => [layer, found.get(layer.manifest.skill) ?? null] as const);
  return new Map(
    names.flatMap(([layer, now]) => (layer === now ? [] : [[layer.manifest.skill, now]])),
  );
}

/** Returns what reads a composed tree by path. */
export function fileIn(
  { files }: Composition,
  release: (path: string) => TreeFile | null,
): (path: string) => TreeFile | null {
  return (path) => {
    const composed = files.get(path);
    return composed === undefined ? release(path) : composed.file;
  };
}

/** Returns what reads a tree by path. */
export function lookUp(tree: Tree): (path: string) => TreeFile | null {
  return (path) => tree.get(path) ?? null;
}
