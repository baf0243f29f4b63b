import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readBackupState } from '../../../store/backup/backup-state.ts';
import { backupsFolder, listBackups } from '../../../store/backup/kept-backups.ts';
import { defineApi, reads } from '../api.ts';

const TAIL_BYTES = 64_000;

/** The state of the assistant: its channels, what the doctor finds, its log and its backups. */
export const api = defineApi({
  name: 'health',
  actions: {
    channels: reads(z.object({}), (_, { context }) => context.channels()),
    doctor: reads(z.object({}), async (_, { context }) => {
      const { data, error } = await context.readClaw(['doctor', '--offline']);
      return { report: data, problem: error?.message ?? null };
    }),
    logs: reads(
      z.object({}),
      (_, { context }) => lastLines(join(context.dataDir, 'logs')),
      'admin',
    ),
    backups: reads(z.object({}), (_, { context: { dataDir } }) => ({
      state: readBackupState(dataDir),
      kept: listBackups(backupsFolder(dataDir)).map(({ file: _, ...backup }) => backup),
    })),
  },
});

/** Returns the end of the assistant's newest log, a line of JSON each. */
function lastLines(folder: string): readonly string[] {
  const newest = namesIn(folder)
    .filter((name) => /^assistant-[\d-]+\.log$/.test(name))
    .sort()
    .at(-1);
  if (newest === undefined) return [];
  const file = openSync(join(folder, newest), 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes.toString().trimEnd().split('\n');
    // The first one is cut where the log is longer.
    return size > TAIL_BYTES ? lines.slice(1) : lines.filter((line) => line !== '');
  } finally {
    closeSync(file);
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Nothing was logged so far.
  }
}
