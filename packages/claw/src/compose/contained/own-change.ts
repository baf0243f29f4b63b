import type { TreeFile, Versions } from '@patchclaw/merge';
import { baseFile, modifiedFile } from '../../package/accessors.ts';
import type { SkillPackage } from '../../package/package.ts';
import { followImports } from '../imports/follow.ts';
import type { MergeContext } from '../merge-context.ts';

/** Returns a layer's change of a file that it modifies, after the moves of the releases since. */
export function changeOf(context: MergeContext, layer: SkillPackage, named: string) {
  const base = baseFile(layer, named) ?? ownRenamedBase(layer, named);
  return followed(context, layer, named, { base, theirs: modifiedFile(layer, named) });
}

/** Returns a change of a layer as its author would write it now, after the moves of the releases since. */
export function followed(
  { tree, mapped, isMapped }: MergeContext,
  layer: SkillPackage,
  named: string,
  change: Omit<Versions<TreeFile | null>, 'ours'>,
): Omit<Versions<TreeFile | null>, 'ours'> {
  if (!isMapped(layer)) return change;
  const { base, theirs } = change;
  const moved = (path: string) => mapped(path, layer);
  const own = new Set(layer.manifest.adds.map(moved));
  const to = moved(named);
  const has = (path: string) => own.has(path) || tree.file(path) !== null;
  const places = { from: named, to, moved, has };
  const before = base && followImports(base, places);
  const after = theirs && followImports(theirs, places);
  const known = new Set(before?.followed.map(({ from }) => from));
  const news = after?.followed.filter(({ from }) => !known.has(from)) ?? [];
  tree.follow(layer.manifest.skill, to, news);
  return { base: before?.file ?? null, theirs: after?.file ?? null };
}

// A package that renames and changes one file may carry the base under either name.
function ownRenamedBase(layer: SkillPackage, path: string): TreeFile | null {
  for (const op of layer.manifest.fileOps) {
    if (op.type !== 'delete' && op.to === path) return baseFile(layer, op.from);
  }
  return null;
}
