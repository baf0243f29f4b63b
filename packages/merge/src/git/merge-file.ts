import { mergeFiles } from '../file.ts';
import type { Versions } from '../tree.ts';
import { type ConflictForm, renderForGit } from './conflict-text.ts';

/** A merged file, its conflicts counted; or that it is binary, and both sides changed it. */
export type MergedFile =
  | { readonly kind: 'merged'; readonly bytes: Buffer; readonly conflicts: number }
  | { readonly kind: 'binary' };

/**
 * Merges three versions of a file as `git merge-file` does, with the engine's rules.
 *
 * @param path its extension tells the language; what is none merges by lines alone
 */
export function mergeFile(
  { base, ours, theirs }: Versions<Buffer>,
  path: string,
  form: ConflictForm,
): MergedFile {
  // Git hands over an empty base where both sides added the file. Two beginnings are never joined by a guess.
  const isAdded = base.length === 0 && ours.length > 0 && theirs.length > 0;
  const versions = {
    base: isAdded ? null : fileOf(base),
    ours: fileOf(ours),
    theirs: fileOf(theirs),
  };
  const merge = mergeFiles(versions, { path });
  if (merge.kind === 'clean') {
    return { kind: 'merged', bytes: merge.file?.bytes ?? Buffer.alloc(0), conflicts: 0 };
  }
  const { hunks } = merge;
  if (hunks.length === 0) return { kind: 'binary' };
  const open = hunks.filter((hunk) => hunk.kind === 'conflict').length;
  return {
    kind: 'merged',
    bytes: Buffer.from(renderForGit(hunks, form), 'latin1'),
    conflicts: form.favour === null ? open : 0,
  };
}

function fileOf(bytes: Buffer) {
  return { bytes, isExecutable: false };
}
