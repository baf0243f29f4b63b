import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasTables } from './store/database-condition.ts';
import { hasOpenMigrations } from './store/open-read-only.ts';

/** A tree that was just published has to come up in 30 seconds; a database of some gigabytes would take longer. */
const LONGEST_MS = 20_000;

/**
 * Saves the installation where this start is going to change the schema of its database. Migrations only add, so a start
 * without a backup is better than none: what kept it from being made is returned.
 *
 * @returns null, or why there is no backup
 */
export async function saveBeforeMigration({
  projectDir,
  database,
}: {
  readonly projectDir: string;
  readonly database: string;
}): Promise<string | null> {
  try {
    if (!hasTables(database) || !hasOpenMigrations(database)) return null;
  } catch {
    return null; // Opening it says what is wrong.
  }
  const claw = join(projectDir, 'bin/claw.js');
  const args = [claw, 'backup', '--reason', 'migration', '--no-media', '--cwd', projectDir];
  try {
    await promisify(execFile)(process.execPath, args, { cwd: projectDir, timeout: LONGEST_MS });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
