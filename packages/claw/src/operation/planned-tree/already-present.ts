import { isSameFile, type TreeFile } from '@patchclaw/merge';
import type { Composition } from '../../compose/composition.ts';

type Lookup = (path: string) => TreeFile | null;

/**
 * Returns files that the owner already had with the very bytes of the layers. From now on the layers own them
 * and removal deletes them. No list of changes would show that, because nothing changes yet.
 */
export function alreadyPresentPaths(
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

/** Tells the owner about them; empty where there are none. */
export function alreadyPresentNotes(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const rest = paths.length - 3;
  const named = paths.slice(0, 3).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return [
    `You had this already, just as the skill makes it: ${named}. It is the skill's now, and goes when ` +
      'the skill goes. To keep it as yours: claw undo, claw customize "…", then apply again.',
  ];
}
