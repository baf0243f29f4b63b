import { type Conflict, partiesOf } from '../conflict.ts';
import { intentNote } from '../skill/accessors.ts';
import type { SkillPackage } from '../skill/package.ts';

/** What the authors of a conflict's two sides wrote about the file, each under its name; or null. */
export function intentNotes(
  conflict: Pick<Conflict, 'path' | 'layers' | 'authors' | 'others'>,
  layers: readonly SkillPackage[],
): string | null {
  const { path } = conflict;
  const notes = partiesOf(conflict).flatMap((name) => {
    const layer = layers.find(({ manifest }) => manifest.skill === name);
    if (layer === undefined) return [];
    const note = layer.manifest.modifies
      .filter((named) => named === path || named.endsWith(path.slice(path.lastIndexOf('/'))))
      .flatMap((named) => intentNote(layer, named) ?? [])[0];
    const text = note ?? layer.manifest.description;
    return [`# ${name} ${layer.manifest.version}\n\n${text.trimEnd()}\n`];
  });
  return notes.length === 0 ? null : notes.join('\n');
}
