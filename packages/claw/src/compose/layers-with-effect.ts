import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { structuredKind } from '../structured/structured-kind.ts';
import type { Composition } from './composition.ts';

/**
 * Returns the names of the layers that have an effect on a composition: a file differs because of them, or there is a
 * conflict.
 */
export function layersWithEffect(
  { files, conflicts, ownStructured }: Composition,
  release: (path: string) => TreeFile | null,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { layers, authors = [], others = [] } of conflicts) {
    for (const name of [...layers, ...authors, ...others]) found.add(name);
  }
  for (const [path, { file, touches }] of files) {
    // All declarations become such a file at once, in the name of the first that declares something.
    const isStructured = structuredKind(path, ownStructured) !== null;
    const isOther = isStructured && !isSameFile(file, release(path));
    for (const { layer, before, after } of touches) {
      if (isStructured ? isOther : !isSameFile(before, after)) found.add(layer);
    }
  }
  return found;
}
