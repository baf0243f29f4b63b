import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { ConflictStyle } from './merge-file.ts';

/**
 * Replaces the text of a file in one step and keeps its mode. If it is killed half-way, the file is as it was, and
 * git merges it itself.
 */
export function replaceFile(path: string, bytes: Buffer): void {
  const real = realpathSync(path);
  const draft = `${real}.claw-${process.pid}`;
  try {
    writeFileSync(draft, bytes);
    chmodSync(draft, statSync(real).mode & 0o7777);
    renameSync(draft, real);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * Reads one version of a file that is being merged.
 *
 * @throws Error with the words of git
 */
export function readVersion(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'No such file or directory' : String(code);
    throw new Error(`Could not stat ${path}: ${why}`);
  }
}

/** Returns the style that `merge.conflictStyle` names in git's configuration; `merge` without one. */
export function configuredStyle(): ConflictStyle {
  try {
    const named = git(['config', '--get', 'merge.conflictStyle']).toString('utf8').trim();
    return named === 'diff3' || named === 'zdiff3' ? named : 'merge';
  } catch {
    return 'merge'; // Not set, or there is no git: its own default.
  }
}

/** Runs git, and returns what it printed. @throws Error where it fails */
export function git(args: readonly string[], input?: Buffer, cwd?: string): Buffer {
  return execFileSync('git', args, {
    ...(input === undefined ? {} : { input }),
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 1 << 30,
  });
}
