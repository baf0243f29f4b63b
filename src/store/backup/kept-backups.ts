import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type BackupReason, REASONS } from './archive-format.ts';

/** A backup in a folder, as far as its name and its size tell. */
export type KeptBackup = {
  /** Absolute path. */
  readonly file: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly reason: BackupReason;
  readonly isLocked: boolean;
  readonly sizeBytes: number;
};

const DAY_MS = 86_400_000;
const DAYS_KEPT = 7;
const WEEKS_KEPT = 4;
/** The number of backups that are kept of each automatic kind except the daily ones. */
const OTHERS_KEPT = 3;
const NAME = /^patchclaw-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-([a-z]+)\.tar\.zst(\.age)?$/;

/** Returns the folder of the backups that are made by themselves. */
export function backupsFolder(dataDir: string): string {
  return join(dataDir, 'backups');
}

/** Returns the name of a backup's file: `patchclaw-20261128T221500Z-daily.tar.zst`. */
export function backupName(facts: {
  readonly now: number;
  readonly reason: BackupReason;
  readonly isLocked: boolean;
}): string {
  const time = new Date(facts.now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  return `patchclaw-${time}Z-${facts.reason}.tar.zst${facts.isLocked ? '.age' : ''}`;
}

/** Lists the backups in a folder, newest first; other files are none. */
export function listBackups(folder: string): readonly KeptBackup[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return []; // None was made yet.
  }
  return names
    .flatMap((name) => {
      const facts = factsOf(name);
      const file = join(folder, name);
      const info = facts === null ? undefined : statSync(file, { throwIfNoEntry: false });
      if (facts === null || info?.isFile() !== true) return [];
      return [{ ...facts, file, name, sizeBytes: info.size }];
    })
    .sort((one, other) => other.createdAt - one.createdAt);
}

function factsOf(name: string): Pick<KeptBackup, 'createdAt' | 'reason' | 'isLocked'> | null {
  const [, year, month, day, hour, minute, second, reason, age] = NAME.exec(name) ?? [];
  const known = REASONS.find((one) => one === (reason === 'asked' ? 'manual' : reason));
  if (known === undefined) return null;
  const createdAt = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  return { createdAt, reason: known, isLocked: age !== undefined };
}

/**
 * Chooses the backups to delete. Daily ones are kept for 7 days, and the newest of each week for 4 weeks. Of those
 * before a migration, an update and the like, the newest 3 of each kind are kept. Those that the owner asked for are
 * always kept, and so is the newest of all.
 */
export function outdated(backups: readonly KeptBackup[], now: number): readonly KeptBackup[] {
  const inOrder = backups.toSorted((one, other) => other.createdAt - one.createdAt);
  const kept = new Set<KeptBackup>(inOrder.slice(0, 1));
  const weeks = new Set<number>();
  const counts = new Map<BackupReason, number>();
  for (const backup of inOrder) {
    const { reason, createdAt } = backup;
    const ageDays = Math.floor((now - createdAt) / DAY_MS);
    const week = Math.floor(createdAt / (7 * DAY_MS));
    const count = counts.get(reason) ?? 0;
    counts.set(reason, count + 1);
    if (reason === 'manual') kept.add(backup);
    else if (reason !== 'daily') {
      if (count < OTHERS_KEPT) kept.add(backup);
    } else if (ageDays < DAYS_KEPT) kept.add(backup);
    else if (ageDays < WEEKS_KEPT * 7 + DAYS_KEPT && !weeks.has(week)) kept.add(backup);
    if (reason === 'daily') weeks.add(week);
  }
  return inOrder.filter((backup) => !kept.has(backup));
}

/** Deletes backups that can go, and returns them. `keep` is the number of the newest that stay, whatever made them. */
export function prune(folder: string, now: number, keep: number | null): readonly KeptBackup[] {
  const all = listBackups(folder);
  const gone = keep === null ? outdated(all, now) : all.slice(Math.max(1, keep));
  for (const { file } of gone) rmSync(file, { force: true });
  return gone;
}
