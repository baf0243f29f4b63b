import { z } from 'zod';
import { dataBy } from '../host/contracts/claw.ts';
import { defineCommand } from '../host/contracts/command.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { readBackupState } from '../store/backup/backup-state.ts';
import { backupsFolder, listBackups } from '../store/backup/kept-backups.ts';

const Made = z.object({
  file: z.string(),
  sizeBytes: z.int(),
  facts: z.object({ leftOut: z.array(z.string()) }),
});
const SHOWN = 10;

/** Makes a backup, or lists those there are. */
export const command = defineCommand({
  scope: 'owner',
  name: 'backup',
  topic: 'assistant',
  help: 'save everything in one file; `/backup list` shows the files',
  complete: () => ['list'],
  isCancellable: true,
  async run({ claw, settings: { dataDir }, tasks: { timeZone }, signal }, argument) {
    if (argument === 'list') {
      const all = listBackups(backupsFolder(dataDir));
      const { drilledAt } = readBackupState(dataDir);
      const lines = all.slice(0, SHOWN).map(({ name, createdAt, sizeBytes }) => {
        return `- ${localTime(createdAt, timeZone)}: ${name} (${megabytes(sizeBytes)})`;
      });
      const drill =
        drilledAt === null ? [] : [`Last good drill: ${localTime(drilledAt, timeZone)}.`];
      const text = lines.length === 0 ? ['There is no backup yet.'] : lines;
      return { kind: 'answer', text: [...text, ...drill].join('\n') };
    }
    if (argument !== '') {
      return { kind: 'answer', text: 'Say `/backup` to make one, or `/backup list`.' };
    }
    const result = await claw(['backup'], undefined, signal);
    const made = dataBy(Made, result);
    if (!result.ok || made === null) {
      const reason = result.error?.message ?? 'the command gave no result.';
      return { kind: 'answer', text: `No backup was made: ${reason}` };
    }
    const lines = [`Saved in ${made.file} (${megabytes(made.sizeBytes)}).`, ...made.facts.leftOut];
    return { kind: 'answer', text: lines.join('\n') };
  },
});

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
