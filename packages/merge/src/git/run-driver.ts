import { configuredStyle, readVersion, replaceFile } from './git-files.ts';
import { mergeFile } from './merge-file.ts';

/** The exit code of a merge with conflicts. Not 1: Node ends with 1 if the program does not even start. */
export const CONFLICT = 10;
const FAILED = 255;

/**
 * Merges one file for git: `%O %A %B %L %P`, and the labels `%X %S %Y` if git knows them.
 *
 * The result replaces `%A` in one step, so that git can merge the file itself if this fails.
 *
 * @returns 0 merged, 10 conflicts, 255 not done
 */
export function runDriver(args: readonly string[]): number {
  const [base, ours, theirs, size, path] = args;
  if (base === undefined || ours === undefined || theirs === undefined || path === undefined) {
    process.stderr.write('usage: claw merge-driver run %O %A %B %L %P [%X %S %Y]\n');
    return FAILED;
  }
  try {
    const merged = mergeFile(
      { base: readVersion(base), ours: readVersion(ours), theirs: readVersion(theirs) },
      path,
      {
        style: configuredStyle(),
        favour: null,
        markerSize: Number(size) > 0 ? Number(size) : 7,
        labels: {
          ours: args[5] || 'ours',
          base: args[6] || 'base',
          theirs: args[7] || 'theirs',
        },
      },
    );
    // As git does with a binary file: ours stays, and the file is in conflict.
    if (merged.kind === 'binary') {
      process.stderr.write(`warning: Cannot merge binary files: ${path}\n`);
      return CONFLICT;
    }
    replaceFile(ours, merged.bytes);
    return merged.conflicts > 0 ? CONFLICT : 0;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`claw merge-driver: ${why}; git merges ${path} by itself\n`);
    return FAILED;
  }
}
