import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BackupReason } from './archive-format.ts';
import { backupName, type KeptBackup, listBackups, outdated, prune } from './kept-backups.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1, 3);

function backup(createdAt: number, reason: BackupReason = 'daily'): KeptBackup {
  const name = backupName({ now: createdAt, reason, isLocked: false });
  return { file: `/x/${name}`, name, createdAt, reason, isLocked: false, sizeBytes: 1 };
}

test('daily backups of seven days and four weeks are kept', () => {
  let kept: readonly KeptBackup[] = [];
  for (let day = 0; day < 200; day += 1) {
    const now = START + day * DAY;
    const all = [...kept, backup(now)];
    const gone = new Set(outdated(all, now));
    kept = all.filter((one) => !gone.has(one));
    const ages = kept.map(({ createdAt }) => (now - createdAt) / DAY);
    const days = Array.from({ length: Math.min(7, day + 1) }, (_, age) => age);
    expect(ages).toEqual(expect.arrayContaining(days));
    const older = ages.filter((age) => age >= 7).sort((one, other) => one - other);
    expect(older.length).toBeLessThanOrEqual(4);
    if (day >= 60) expect(older.length).toBeGreaterThanOrEqual(3);
    for (const [at, age] of older.slice(1).entries())
      expect(age - (older[at] ?? 0)).toBeLessThanOrEqual(13);
  }
});

test('backups that the owner asked for are kept, and three of each other kind', () => {
  const now = START + 900 * DAY;
  const asked = Array.from({ length: 5 }, (_, n) => backup(START + n * DAY, 'manual'));
  const updates = Array.from({ length: 5 }, (_, n) => backup(START + n * DAY, 'update'));
  const gone = outdated([...asked, ...updates], now);
  expect(gone.map(({ createdAt }) => createdAt)).toEqual([START + DAY, START]);
  expect(gone.every(({ reason }) => reason === 'update')).toBe(true);
});

test('the newest stays, however old it is and whatever number is to be kept', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kept-'));
  try {
    for (let day = 0; day < 4; day += 1) {
      writeFileSync(join(folder, backup(START + day * DAY).name), '');
    }
    writeFileSync(join(folder, 'holiday.jpg'), '');
    expect(prune(folder, START + 900 * DAY, null)).toHaveLength(3);
    expect(prune(folder, START, 1)).toEqual([]);
    expect(listBackups(folder).map(({ createdAt }) => createdAt)).toEqual([START + 3 * DAY]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
