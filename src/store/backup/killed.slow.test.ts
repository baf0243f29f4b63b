import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  CALLS,
  census,
  inject,
  spread,
} from '../../../packages/claw/src/transaction/testing/strace.ts';
import { openStore } from '../store.ts';
import { listBackups } from './kept-backups.ts';
import { makeBackup, verifyBackup } from './make-backup.ts';

/** Beside those that change a folder: the calls that bring bytes to the disk. */
const TRACED = [...CALLS, 'openat', 'pwrite64', 'write', 'ftruncate'] as const;
/** Node makes hundreds of these calls before and after; a few of each kind are tried in a run of this test. */
const TRIED = Number(process.env['CLAW_KILLS'] ?? 6);
const NOW = Date.UTC(2026, 10, 28, 12);
const OPTIONS = { reason: 'daily', lock: { kind: 'none' }, now: NOW } as const;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'killed-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a backup that is killed at any call leaves none or a whole one, and the next one sweeps up', async () => {
  const projectDir = join(root, 'project');
  const dataDir = join(projectDir, 'data');
  const kept = join(dataDir, 'backups');
  mkdirSync(join(projectDir, 'groups/main'), { recursive: true });
  writeFileSync(join(projectDir, 'groups/main/CLAUDE.md'), 'Likes tea.');
  writeFileSync(join(projectDir, 'package.json'), '{"version":"1.0.0"}');
  const store = openStore({ path: join(dataDir, 'claw.db'), now: NOW });
  store.meta.set('who', 'ada');
  store.close();
  const isSecret = () => false;
  await makeBackup({ projectDir, dataDir, ...OPTIONS, isSecret });
  const [first] = listBackups(kept);
  const script = `
    import { makeBackup } from ${JSON.stringify(join(import.meta.dirname, 'make-backup.ts'))};
    await makeBackup({ projectDir: ${JSON.stringify(projectDir)}, dataDir: ${JSON.stringify(dataDir)},
      reason: 'daily', lock: { kind: 'none' }, now: ${NOW + 60_000}, isSecret: () => false });`;
  const program = [process.execPath, '--input-type=module', '-e', script];
  const log = join(root, 'strace.log');
  const counts = await census(program, log, TRACED);
  const [second] = listBackups(kept);
  const whole = await verifyBackup(second?.file ?? '');
  rmSync(second?.file ?? '');
  const state = () => readFileSync(join(dataDir, 'claw.db'));
  const before = state();
  const seen = { none: 0, whole: 0 };
  for (const call of TRACED) {
    for (const nth of spread(counts[call] ?? 0, TRIED)) {
      const { isHit } = await inject(program, log, { call, nth, effect: 'SIGKILL' }, TRACED);
      const made = listBackups(kept).filter(({ file }) => file !== first?.file);
      for (const { file } of made) {
        const { files, facts } = await verifyBackup(file);
        expect(files).toEqual(whole.files);
        expect(facts.rows).toEqual(whole.facts.rows);
        rmSync(file);
      }
      // A thread that makes fewer of these calls than all together is not reached by the last ones.
      if (isHit) seen[made.length === 0 ? 'none' : 'whole'] += 1;
      expect(state().equals(before)).toBe(true);
    }
  }
  expect(seen.none).toBeGreaterThan(10);
  expect((await verifyBackup(first?.file ?? '')).facts.reason).toBe('daily');
  await makeBackup({ projectDir, dataDir, ...OPTIONS, now: NOW + 120_000, isSecret });
  expect(readdirSync(join(dataDir, 'tmp'))).toEqual([]);
  expect(readdirSync(kept).filter((name) => name.endsWith('.part'))).toEqual([]);
  console.info(
    `backup: ${seen.none + seen.whole} kills, ${seen.none} without a new file, ${seen.whole} with a whole one`,
  );
});
