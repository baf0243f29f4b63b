import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CONFLICT } from '@patchclaw/merge/git';

/** The first git that tells a driver the names of both sides. */
const GIT_WITH_LABELS = [2, 44] as const;

/**
 * Returns the shell command that git runs for each file. Where Node or claw is missing, is killed or fails,
 * git's own merge takes over, from the same file: the driver replaces it only once it is done.
 */
export function driverCommand([major, minor]: readonly [number, number]): string {
  const [withMajor, withMinor] = GIT_WITH_LABELS;
  const isLabelled = major > withMajor || (major === withMajor && minor >= withMinor);
  const claw = realpathSync(resolve(process.argv[1] ?? 'claw'));
  const labels = isLabelled ? ' %X %S %Y' : '';
  const fallback = isLabelled ? '-L %X -L %S -L %Y' : '-L ours -L base -L theirs';
  return [
    `n=${quoted(process.execPath)}`,
    'test -x "$n" || n=node',
    `"$n" ${quoted(claw)} merge-driver run %O %A %B %L %P${labels}`,
    's=$?',
    // A file that git cannot merge either, such as a binary one, stays as ours, in conflict.
    `case $s in 0) ;; ${CONFLICT}) s=1 ;; *) git merge-file -q --marker-size=%L ${fallback} %A %O %B; s=$?; test $s -le 127 || s=1 ;; esac`,
    'exit $s',
  ].join('; ');
}

/** Lets the command merge a file in a folder of its own. @returns what is wrong with it, null for nothing */
export function tryDriver(command: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'claw-driver-'));
  try {
    const texts = { O: 'a\nb\nc\n', A: 'A\nb\nc\n', B: 'a\nb\nC\n' };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    const given: Record<string, string> = { O: 'O', A: 'A', B: 'B', L: '7', P: "'a b.txt'" };
    const filled = command.replace(/%(.)/g, (_all, letter: string) =>
      letter === '%' ? '%' : (given[letter] ?? letter),
    );
    const run = spawnSync('sh', ['-c', filled], { cwd: folder, encoding: 'utf8' });
    if (run.stderr.trim() !== '')
      return `git merges by itself: ${run.stderr.trim().split('\n')[0]}`;
    const merged = readFileSync(join(folder, 'A'), 'utf8');
    return run.status === 0 && merged === 'A\nb\nC\n' ? null : 'a small file came out wrong';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Quotes a path for the shell, and its percent signs for git. */
function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''").replaceAll('%', '%%')}'`;
}
