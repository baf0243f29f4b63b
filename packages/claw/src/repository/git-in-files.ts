import { spawn } from 'node:child_process';
import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs git with a file for what it reads and one for what it prints. Pipes hold less than the bytes of a release: there
 * git would stand still whenever this process is busy. Both files have lost their names before git begins, so that
 * nothing is left of them whatever ends this process.
 *
 * @returns null where it did not succeed: pipes may do, and tell the reason
 */
export async function runGitInFiles(
  root: string,
  args: readonly string[],
  input: string,
): Promise<Buffer | null> {
  const files = openFiles(input);
  if (files === null) return null;
  try {
    const stdio = [files.input, files.output, 'ignore'] as const;
    const child = spawn('git', args, { cwd: root, stdio: [...stdio] });
    const code = await new Promise<number | null>((resolve) => {
      child.on('error', () => resolve(null));
      child.on('close', resolve);
    });
    return code === 0 ? readWhole(files.output) : null;
  } finally {
    closeSync(files.input);
    closeSync(files.output);
  }
}

type Files = { readonly input: number; readonly output: number };

function openFiles(input: string): Files | null {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'claw-git-'));
    try {
      writeFileSync(join(folder, 'input'), input);
      const output = openSync(join(folder, 'output'), 'wx+');
      return { input: openSync(join(folder, 'input'), 'r'), output };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    return null; // No room, or no folder for such files.
  }
}

/** Reads from the beginning: git has moved the place that both share to the end. */
function readWhole(file: number): Buffer {
  const bytes = Buffer.allocUnsafe(fstatSync(file).size);
  let end = 0;
  while (end < bytes.length) {
    const count = readSync(file, bytes, end, bytes.length - end, end);
    if (count === 0) break;
    end += count;
  }
  return bytes.subarray(0, end);
}
