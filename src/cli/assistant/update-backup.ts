import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ClawError } from '@patchclaw/claw/cli';
import { z } from 'zod';
import { dataDirOf, environmentOf } from '../environment.ts';

const CLAW = resolve(import.meta.dirname, '../../../bin/claw.js');
const OFF = 'BACKUP_BEFORE_UPDATE';
const Result = z.object({ error: z.object({ message: z.string() }).nullable() });

/**
 * Saves the assistant's data before an update is published, in a process of its own: SQLite would hold up this one.
 *
 * @throws ClawError BACKUP_FAILED, INTERRUPTED
 */
export async function saveBeforeUpdate(place: {
  readonly root: string;
  readonly signal: AbortSignal;
  readonly onStep: (text: string) => void;
}): Promise<void> {
  const { root, signal } = place;
  const environment = environmentOf(root);
  const database = join(dataDirOf(environment, root), 'claw.db');
  if (environment[OFF] === 'off' || !existsSync(database)) return;
  place.onStep('Saving what is here');
  const args = ['backup', '--reason', 'update', '--no-media', '--json', '--cwd', root];
  try {
    await promisify(execFile)(process.execPath, [CLAW, ...args], {
      ...{ cwd: root, signal },
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (cause) {
    if (signal.aborted) throw new ClawError('INTERRUPTED', 'It was ended.', { cause });
    throw new ClawError(
      'BACKUP_FAILED',
      `No backup could be made before the update: ${reasonOf(cause)} Nothing was changed. To update without a backup: ${OFF}=off npx claw update`,
      { cause },
    );
  }
}

function reasonOf(error: unknown): string {
  try {
    const { message } = Result.parse(JSON.parse(String(Object(error)['stdout']))).error ?? {};
    if (message !== undefined) return message;
  } catch {
    // It broke before it could say anything in JSON.
  }
  return error instanceof Error ? `${error.message}.` : `${String(error)}.`;
}
