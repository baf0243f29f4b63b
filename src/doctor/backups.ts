import { existsSync } from 'node:fs';
import { readBackupState } from '../store/backup/backup-state.ts';
import { readFence } from '../store/backup/fence.ts';
import { backupsFolder, type KeptBackup, listBackups } from '../store/backup/kept-backups.ts';
import { databasePath } from '../store/database-condition.ts';
import { type Examination, type Finding, ok, problem, type Subject } from './examination.ts';
import { sizeText } from './size.ts';

const AREA = 'backups';
const DAY_MS = 86_400_000;
/** A machine may be off for a weekend. */
const OLD_MS = 4 * DAY_MS;

/** Looks at whether this installation could be brought back: its backups, their last drill, and a fence. */
export const examination: Examination = {
  area: AREA,
  order: 65,
  async examine(subject) {
    if (!existsSync(databasePath(subject.dataDir))) return [];
    return [...fence(subject), newest(subject), ...drill(subject)];
  },
};

function fence({ dataDir }: Subject): readonly Finding[] {
  if (readFence(dataDir) === null) return [];
  const message = 'this assistant was restored from a backup, and its channels are off';
  return [problem(AREA, message, 'If the other one is stopped for good, say /resume here.')];
}

function newest({ dataDir, now }: Subject): Finding {
  const all = listBackups(backupsFolder(dataDir));
  const [last] = all;
  const { failure } = readBackupState(dataDir);
  if (failure !== null) {
    const at = momentOf(failure.at);
    return problem(
      AREA,
      `the daily backup failed ${at}: ${failure.reason}`,
      'Try it: npx claw backup',
    );
  }
  if (last === undefined) {
    return ok(
      AREA,
      'none yet; the first is made a few minutes after a start',
      'Or now: npx claw backup',
    );
  }
  const message = `${all.length}, the newest of ${momentOf(last.createdAt)} (${describe(last)})`;
  if (now() - last.createdAt < OLD_MS) return ok(AREA, message);
  return problem(AREA, `${message}: that is old`, 'Make one: npx claw backup');
}

function describe({ sizeBytes, isLocked }: KeptBackup): string {
  return `${sizeText(sizeBytes)}, ${isLocked ? 'encrypted' : 'without keys'}`;
}

function drill({ dataDir }: Subject): readonly Finding[] {
  const { drilledAt, drillFailure } = readBackupState(dataDir);
  if (drillFailure !== null) {
    const message = `the drill of ${momentOf(drillFailure.at)} failed: ${drillFailure.reason}`;
    return [problem(AREA, message, 'Try it again: npx claw backup --drill')];
  }
  return drilledAt === null ? [] : [ok(AREA, `last good drill ${momentOf(drilledAt)}`)];
}

function momentOf(ms: number): string {
  return new Date(ms).toLocaleString('sv').slice(0, 16);
}
