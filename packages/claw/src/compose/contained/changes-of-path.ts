import { addedFile, baseFile } from '../../package/accessors.ts';
import type { SkillPackage } from '../../package/package.ts';
import { structuredKind } from '../../structured/kind.ts';
import type { LostChange } from '../files/deleted-file.ts';
import type { MergeContext } from '../merge-context.ts';
import { changeOf, followed } from './own-change.ts';
import type { LayerChange } from './whole-change.ts';

/**
 * Returns the changes of a path as the release has it, or has it no more, by a skill and those after it; none where a
 * layer before had a part in it, or where a change has no base.
 */
export function changesTogether(
  context: MergeContext,
  layer: SkillPackage,
  path: string,
): readonly LostChange[] {
  const { tree, skills, mapped, ownStructured } = context;
  const isUntouched = tree.touches(path).length === 0 && !tree.isConflicted(path);
  if (!isUntouched || structuredKind(path, ownStructured) !== null) return [];
  const changes: LostChange[] = [];
  for (const one of skills.slice(Math.max(0, skills.indexOf(layer)))) {
    for (const named of one.manifest.modifies) {
      if (mapped(named, one) !== path) continue;
      if (one.withoutBase.has(named)) return [];
      const { base, theirs } = changeOf(context, one, named);
      if (base === null || theirs === null) return [];
      changes.push({ skill: one.manifest.skill, base, theirs });
    }
  }
  return changes[0]?.skill === layer.manifest.skill ? changes : [];
}

/** Returns what a layer and those after it do to a path; none where one of them moves it, or its change has no base. */
export function changesFrom(
  context: MergeContext,
  layer: SkillPackage,
  path: string,
): readonly LayerChange[] {
  const { layers, mapped, ownStructured } = context;
  if (structuredKind(path, ownStructured) !== null) return [];
  const changes: LayerChange[] = [];
  for (const one of layers.slice(layers.indexOf(layer))) {
    const { skill, adds, modifies, fileOps } = one.manifest;
    const isThere = (named: string) => mapped(named, one) === path;
    for (const op of fileOps) {
      if (op.type !== 'delete') {
        // The release may have made the very move.
        if (isThere(op.from) !== isThere(op.to)) return [];
        continue;
      }
      if (!isThere(op.path)) continue;
      const base = baseFile(one, op.path);
      if (base === null) return [];
      changes.push({ skill, ...followed(context, one, op.path, { base, theirs: null }) });
    }
    for (const named of adds.filter(isThere)) {
      const change = { base: null, theirs: addedFile(one, named) };
      changes.push({ skill, ...followed(context, one, named, change) });
    }
    for (const named of modifies.filter(isThere)) {
      const change = changeOf(context, one, named);
      if (one.withoutBase.has(named) || change.base === null || change.theirs === null) return [];
      changes.push({ skill, ...change });
    }
  }
  return changes[0]?.skill === layer.manifest.skill ? changes : [];
}
