import { execFile } from 'node:child_process';
import { setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { defineService, type ServiceContext } from '../host/contracts/service.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { oneOf } from '../lib/setting-values.ts';
import { noteBackupState, readBackupState } from '../store/backup/backup-state.ts';
import { backupsFolder, listBackups } from '../store/backup/kept-backups.ts';

/** After a start there is other work. */
const FIRST_LOOK_MS = 5 * 60_000;
const LOOK_MS = 30 * 60_000;
const DAY_MS = 86_400_000;
const DRILL_MS = 30 * DAY_MS;
/** A failure is told once a day. */
const RETRY_MS = DAY_MS;
const CLAW = resolve(import.meta.dirname, '../../bin/claw.js');
/** It gets what is left of the processor. */
const LOW_PRIORITY = 19;

/**
 * Makes a backup each day and a drill each month, each in a process of its own with low priority, since nobody in a
 * chat waits for it.
 */
export const service = defineService({
  name: 'backup',
  settings: z.object({ BACKUP_DAILY: oneOf(['on', 'off']).default('on') }),
  start(context) {
    const { settings, dataDir, setTimer, timeZone } = context;
    const look = async (): Promise<void> => {
      if (settings.BACKUP_DAILY === 'on') await doWhatIsDue(context);
      if (!context.signal.aborted) setTimer(LOOK_MS, again);
    };
    const again = (): void => void look().catch(context.crash);
    setTimer(FIRST_LOOK_MS, again);
    return {
      stop() {},
      status() {
        const [newest] = listBackups(backupsFolder(dataDir));
        const { failure, drilledAt } = readBackupState(dataDir);
        const time = (ms: number) => localTime(ms, timeZone);
        const last =
          newest === undefined ? 'no backup yet' : `last backup ${time(newest.createdAt)}`;
        const drill = drilledAt === null ? '' : `, last drill ${time(drilledAt)}`;
        const failed = failure === null ? '' : `, failed ${time(failure.at)}`;
        const off = settings.BACKUP_DAILY === 'off' ? ', none daily' : '';
        return `${last}${drill}${failed}${off}`;
      },
    };
  },
});

async function doWhatIsDue(context: ServiceContext): Promise<void> {
  const { dataDir, now } = context;
  const daily = listBackups(backupsFolder(dataDir)).find(({ reason }) => reason === 'daily');
  const state = readBackupState(dataDir);
  const isDue = daily === undefined || now() - daily.createdAt >= DAY_MS;
  const mayTry = state.failure === null || now() - state.failure.at >= RETRY_MS;
  if (isDue && mayTry) await makeDaily(context);
  const lastDrill = Math.max(state.drilledAt ?? 0, state.drillFailure?.at ?? 0);
  if (now() - lastDrill >= DRILL_MS && !context.signal.aborted) await drill(context);
}

async function makeDaily(context: ServiceContext): Promise<void> {
  const { dataDir, now, log } = context;
  const problem = await runClaw(['backup', '--reason', 'daily'], context);
  if (context.signal.aborted) return;
  if (problem !== null) {
    log.warn('the daily backup failed', { reason: problem });
    noteBackupState(dataDir, { failure: { at: now(), reason: problem.slice(0, 2_000) } });
    tell(context, `The daily backup failed: ${problem}`);
    return;
  }
  log.info('the daily backup is made');
  noteBackupState(dataDir, { failure: null });
  if (readBackupState(dataDir).announcedAt !== null) return;
  noteBackupState(dataDir, { announcedAt: now() });
  const folder = backupsFolder(dataDir);
  const [newest] = listBackups(folder);
  const keys = newest?.isLocked === true ? '' : ' and has no keys in it';
  tell(
    context,
    `I make a backup each day from now on, in ${folder}. The last 7 days stay, and one a week for 4 weeks. It is on this disk${keys}: \`BACKUP_TO\` and \`BACKUP_AFTER\` in \`.env\` encrypt it and bring it elsewhere, and \`BACKUP_DAILY=off\` ends it.`,
  );
}

async function drill(context: ServiceContext): Promise<void> {
  const problem = await runClaw(['backup', '--drill'], context);
  // The command notes the result itself.
  if (problem === null || context.signal.aborted) return;
  context.log.warn('the backup drill failed', { reason: problem });
  tell(
    context,
    `The monthly test of the backups failed: ${problem}\n\nTo try again: \`npx claw backup --drill\`. To make a backup now: \`/backup\`.`,
  );
}

function tell({ queueMessage, newId, store }: ServiceContext, text: string): void {
  const [main] = store.groups.all().filter(({ isMain }) => isMain);
  if (main !== undefined) queueMessage({ id: newId(), folder: main.folder, text });
}

const Result = z.object({ error: z.object({ message: z.string() }).nullable() });

/** Runs a command of claw; returns null, or what went wrong in a sentence. */
async function runClaw(
  args: readonly string[],
  { groupsDir, signal }: ServiceContext,
): Promise<string | null> {
  const projectDir = join(groupsDir, '..');
  const { promise, resolve: end } = Promise.withResolvers<string | null>();
  const options = { cwd: projectDir, signal, maxBuffer: 64 * 1024 * 1024 };
  const command = [CLAW, ...args, '--json', '--cwd', projectDir];
  const child = execFile(process.execPath, command, options, (error, stdout) => {
    if (error === null) end(null);
    else end(reasonIn(stdout) ?? error.message);
  });
  try {
    if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
  } catch {
    // It has ended already, or this system has no priorities: it only takes more of the processor.
  }
  return promise;
}

function reasonIn(stdout: string): string | null {
  try {
    return Result.parse(JSON.parse(stdout)).error?.message ?? null;
  } catch {
    return null; // It was killed, or broke before it could say anything.
  }
}
