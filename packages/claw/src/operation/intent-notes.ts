import { type Conflict, partiesOf } from '../conflict.ts';
import { intentNote } from '../package/accessors.ts';
import type { SkillPackage } from '../package/package.ts';
import { TEMPLATE_DESCRIPTION, writtenPart } from '../package/templates.ts';

/** Returns the authors' notes on a file in conflict, each under its layer's name; null if there are none. */
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
    // Unchanged parts of the template explain nothing about this change.
    const written = writtenPart(note ?? '').trimEnd();
    const { description, version } = layer.manifest;
    const text = written || (TEMPLATE_DESCRIPTION.test(description) ? '' : description);
    return text === '' ? [] : [`# ${name} ${version}\n\n${text}\n`];
  });
  return notes.length === 0 ? null : notes.join('\n');
}
