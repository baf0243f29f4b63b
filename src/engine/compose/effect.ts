import type { SkillPackage } from '../package/package.ts';
import { structuredKind } from '../structured/kind.ts';
import { isSameFile, type TreeFile } from '../tree.ts';
import type { Composition } from './composition.ts';

/** Tells whether a layer leaves a trace in a composition: a file that is other with it, or a conflict. */
export function hasEffect(
  { manifest }: SkillPackage,
  { files, conflicts, ownStructured }: Composition,
  release: (path: string) => TreeFile | null,
): boolean {
  const name = manifest.skill;
  if (
    conflicts.some(({ layers, authors = [], others = [] }) =>
      [...layers, ...authors, ...others].includes(name),
    )
  ) {
    return true;
  }
  return [...files].some(([path, { file, touches }]) => {
    const own = touches.filter(({ layer }) => layer === name);
    if (own.length === 0) return false;
    // All declarations become such a file at once, in the name of the first that declares something.
    if (structuredKind(path, ownStructured) !== null) return !isSameFile(file, release(path));
    return own.some(({ before, after }) => !isSameFile(before, after));
  });
}
