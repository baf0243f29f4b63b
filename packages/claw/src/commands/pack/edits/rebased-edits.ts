import { isSameFile, mergeFiles } from '@patchclaw/merge';
import { readOwnStructured } from '../../../installed/config.ts';
import type { Installation } from '../../../installed/installation.ts';
import type { SkillPackage } from '../../../package/package.ts';
import { structuredKind } from '../../../structured/kind.ts';
import type { PackedEdit } from '../renames.ts';

/** Edits as a package carries them, and the skills that it cannot do without. */
export type RebasedEdits = {
  readonly edits: readonly PackedEdit[];
  readonly depends: readonly string[];
};

/**
 * Rebases edits of other layers' work onto the core itself, so that a package of them applies anywhere. Where
 * an edit touches those layers' own lines or files, the package depends on them.
 */
export function rebaseEdits(
  { releaseFile }: Installation,
  installed: readonly SkillPackage[],
  edits: readonly PackedEdit[],
): RebasedEdits {
  const ownStructured = readOwnStructured(releaseFile);
  const depends = new Set<string>();
  const rebased = edits.map((edit) => {
    const { path, before, after } = edit;
    const released = releaseFile(path);
    if (
      structuredKind(path, ownStructured) !== null ||
      before === null ||
      isSameFile(before, released)
    ) {
      return edit;
    }
    const merged =
      released && after
        ? mergeFiles({ base: before, ours: released, theirs: after }, { path })
        : null;
    if (merged?.kind === 'clean' && merged.file !== null && !isSameFile(merged.file, released)) {
      return { path, before: released, after: merged.file };
    }
    for (const name of layersOn(path, installed)) depends.add(name);
    return edit;
  });
  return { edits: rebased, depends: [...depends].sort() };
}

function layersOn(path: string, installed: readonly SkillPackage[]): readonly string[] {
  return installed
    .filter(({ kind }) => kind === 'skill')
    .filter(({ manifest: { adds, modifies, fileOps } }) => {
      const moved = fileOps.flatMap((op) => (op.type === 'delete' ? [] : [op.to]));
      return [...adds, ...modifies, ...moved].includes(path);
    })
    .map(({ manifest }) => manifest.skill);
}
