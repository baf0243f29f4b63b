import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ClawError } from '../../commands.ts';

/**
 * Lets the owner edit a text in their own editor (`$VISUAL`, `$EDITOR`, else vi).
 *
 * @param name of a file like it, so that the editor knows the language
 * @throws ClawError USAGE where the editor does not start, or says that it failed
 */
export function editText(
  text: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'claw-edit-'));
  const place = join(folder, basename(name));
  const editor = environment['VISUAL'] || environment['EDITOR'] || 'vi';
  try {
    writeFileSync(place, text);
    // Editors are commands with options as often as they are programs: `code --wait`.
    const run = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', place], { stdio: 'inherit' });
    if (run.status !== 0) {
      throw new ClawError('USAGE', `The editor (${editor}) did not end well; nothing was taken.`);
    }
    return readFileSync(place, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
