import type { Composition } from '../../compose/composition.ts';
import { isSameFile, type TreeFile } from '../../tree.ts';

type Lookup = (path: string) => TreeFile | null;

/**
 * Files that the owner already had just as the layers make them. From now on they are the layers', and
 * go with them, which nobody would see in a list of changes: nothing changes yet.
 */
export function adoptedPaths(
  { files }: Composition,
  { disk, published }: { readonly disk: Lookup; readonly published: Lookup },
): readonly string[] {
  return [...files]
    .filter(([path, { file }]) => {
      const there = file === null ? null : disk(path);
      return there !== null && isSameFile(there, file) && !isSameFile(there, published(path));
    })
    .map(([path]) => path)
    .sort();
}

/** What the owner is told of them; nothing where there are none. */
export function adoptionNotes(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const rest = paths.length - 3;
  const named = paths.slice(0, 3).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return [
    `You had this already, just as the skill makes it: ${named}. It is the skill's now, and goes when ` +
      'the skill goes. To keep it as yours: claw undo, claw customize "…", then apply again.',
  ];
}
