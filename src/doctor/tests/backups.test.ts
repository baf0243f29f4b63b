import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noteBackupState } from '../../store/backup/backup-state.ts';
import { fencePath } from '../../store/backup/fence.ts';
import { backupName } from '../../store/backup/kept-backups.ts';
import { openStore } from '../../store/store.ts';
import { examinedProject } from '../../testing/claw/examined-project.ts';

const NOW = Date.UTC(2026, 10, 28, 12);
const DAY_MS = 86_400_000;
const project = examinedProject();
const found = () => project.found('backups', { now: NOW });

function keep(name: string, sizeBytes: number): void {
  mkdirSync(join(project.data, 'backups'), { recursive: true });
  writeFileSync(join(project.data, 'backups', name), Buffer.alloc(sizeBytes));
}

test('the newest backup and the last drill have a line each; an assistant without a database has none', async () => {
  expect(await found()).toEqual([]);
  openStore({ path: join(project.data, 'claw.db'), now: 1 }).close();
  expect(await found()).toMatchObject([{ ok: true, message: expect.stringContaining('none yet') }]);
  const old = { reason: 'daily', now: NOW - 5 * DAY_MS, isLocked: false } as const;
  keep(backupName(old), 2_000);
  expect(await found()).toMatchObject([
    { ok: false, message: expect.stringMatching(/^1, the newest of .*: that is old$/) },
  ]);
  keep(backupName({ ...old, now: NOW - DAY_MS, isLocked: true }), 3_000_000);
  noteBackupState(project.data, { drilledAt: NOW - 2 * DAY_MS });
  expect(await found()).toMatchObject([
    {
      ok: true,
      message: expect.stringMatching(/^2, the newest of 2026-11-27 .*\(\S+ MB, encrypted\)$/),
    },
    { ok: true, message: expect.stringMatching(/^last good drill 2026-11-26 /) },
  ]);
});

test('a backup or a drill that failed, and a restored assistant that is silent, are problems', async () => {
  openStore({ path: join(project.data, 'claw.db'), now: 1 }).close();
  keep(backupName({ reason: 'daily', now: NOW - DAY_MS, isLocked: false }), 2_000);
  noteBackupState(project.data, { failure: { at: NOW, reason: 'the disk is full' } });
  noteBackupState(project.data, { drillFailure: { at: NOW, reason: 'it did not answer' } });
  writeFileSync(fencePath(project.data), JSON.stringify({ restoredAt: NOW, backupFrom: NOW }));
  expect(await found()).toMatchObject([
    {
      ok: false,
      message: expect.stringContaining('its channels are off'),
      advice: expect.stringContaining('/resume here'),
    },
    { ok: false, message: expect.stringMatching(/^the daily backup failed .*: the disk is full$/) },
    { ok: false, message: expect.stringMatching(/^the drill of .* failed: it did not answer$/) },
  ]);
});
