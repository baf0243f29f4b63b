import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const CLAW = resolve(import.meta.dirname, '../../../bin/claw.js');
/** A tree that was just published has to come up in 30 seconds; a database of some gigabytes would take longer. */
const LONGEST_MS = 20_000;

/**
 * Returns what saves the installation before the schema of a database changes, the first time that it is called: one
 * backup holds all databases. Migrations only add, so a start without a backup is better than none.
 *
 * It waits for the backup, since nothing may write to the database meanwhile but a migration that has a backup.
 *
 * @param onFailure told why there is no backup
 */
export function saverBeforeMigration(
  projectDir: string,
  onFailure: (reason: string) => void,
): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    const args = [CLAW, 'backup', '--reason', 'migration', '--no-media', '--cwd', projectDir];
    try {
      const stdio = ['ignore', 'ignore', 'pipe'] as const;
      const options = { cwd: projectDir, timeout: LONGEST_MS, stdio: [...stdio] };
      execFileSync(process.execPath, args, options);
    } catch (error) {
      onFailure(error instanceof Error ? error.message : String(error));
    }
  };
}
