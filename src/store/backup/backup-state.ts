import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { backupsFolder } from './kept-backups.ts';

/** The record of backups beside the files themselves. Times are milliseconds since the epoch. */
const BackupState = z.object({
  /** When the owner was told that backups are made. */
  announcedAt: z.int().nullable().default(null),
  /** The last try that failed, until one succeeds. */
  failure: z
    .object({ at: z.int(), reason: z.string().max(2_000) })
    .nullable()
    .default(null),
  /** The last drill that was good. */
  drilledAt: z.int().nullable().default(null),
  /** The last drill that failed, until one is good. */
  drillFailure: z
    .object({ at: z.int(), reason: z.string().max(2_000) })
    .nullable()
    .default(null),
});
export type BackupState = z.output<typeof BackupState>;

const NOTHING = BackupState.parse({});

/** Reads the record; an empty one if the file does not exist or cannot be read. */
export function readBackupState(dataDir: string): BackupState {
  try {
    return BackupState.parse(JSON.parse(readFileSync(statePath(dataDir), 'utf8')));
  } catch {
    return NOTHING;
  }
}

/** Changes the record, by one rename. */
export function noteBackupState(dataDir: string, change: Partial<BackupState>): void {
  const path = statePath(dataDir);
  mkdirSync(backupsFolder(dataDir), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  const state = { ...readBackupState(dataDir), ...change };
  writeFileSync(draft, `${JSON.stringify(state)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

function statePath(dataDir: string): string {
  return join(backupsFolder(dataDir), 'state.json');
}
