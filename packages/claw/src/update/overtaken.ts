import { isSameFile } from '@patchclaw/merge';
import { type Conflict, conflictFile } from '../conflict.ts';
import { customFiles, reanchored } from '../package/manifest/customisation.ts';
import type { SkillPackage } from '../package/package.ts';
import type { OldCore } from './old-core.ts';

type Planned = {
  readonly layers: readonly SkillPackage[];
  readonly conflicts: readonly Conflict[];
  /** The core on which the layers were composed before. */
  readonly old: Pick<OldCore, 'file' | 'published'>;
  /** Layers that stay with all they do, by the owner's word. */
  readonly keep: readonly string[];
};

/** The layers without what was overtaken, and what the owner is told of it. */
export type WithoutOvertaken = {
  readonly layers: readonly SkillPackage[];
  readonly notes: readonly string[];
};

/**
 * Takes files out of customisations that the old core had already as the customisation makes them, where the new release
 * has gone on from there. The record is from before the old core: merged again, it would ask about lines that the owner
 * and the release have had alike since. Edits that nobody recorded are not asked about either, nor does git ask.
 *
 * @returns null where there is none
 */
export function leaveOvertaken({ layers, conflicts, old, keep }: Planned): WithoutOvertaken | null {
  const paths = new Set(conflicts.map((conflict) => conflictFile(conflict)));
  const taken = new Map<string, string[]>();
  const next = layers.flatMap((layer) => {
    const { skill } = layer.manifest;
    if (layer.kind !== 'customisation' || keep.includes(skill)) return [layer];
    let current: SkillPackage | null = layer;
    for (const file of customFiles(layer)) {
      const before = old.file(file.path);
      const isOvertaken =
        paths.has(file.path) &&
        before !== null &&
        isSameFile(before, file.after) &&
        isSameFile(before, old.published(file.path));
      if (!isOvertaken || current === null) continue;
      current = reanchored(current, { path: file.path, before, after: before });
      taken.set(skill, [...(taken.get(skill) ?? []), file.path]);
    }
    return current === null ? [] : [current];
  });
  if (taken.size === 0) return null;
  const notes = [...taken].map(
    ([skill, names]) =>
      `The release you had was as ${skill} makes it, and this one has gone on from there in ${names.join(', ')}: its text stays, and ${skill} no longer holds ${names.length === 1 ? 'that file' : 'those files'}. --keep ${skill} asks instead.`,
  );
  return { layers: next, notes };
}
