import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noteBackupState } from '../store/backup/backup-state.ts';
import { fencePath } from '../store/backup/fence.ts';
import { listBackups } from '../store/backup/kept-backups.ts';
import { verifyBackup } from '../store/backup/make-backup.ts';
import { TestProject } from '../testing/assistant.ts';
import { ask, hears, stopsForRestart } from '../testing/owner/owner-chat.ts';

test('/backup makes a backup while the assistant runs, and lists what there is', async () => {
  using project = new TestProject({
    '.gitignore': 'data/\n',
    'groups/main/CLAUDE.md': 'Likes tea.',
  });
  const folder = join(project.dir, 'data/backups');
  const assistant = await project.start();
  await ask(assistant, '/backup list', 'There is no backup yet.');
  await ask(assistant, '/backup now', 'Say `/backup` to make one, or `/backup list`.');
  const told = await ask(assistant, '/backup', 'Saved in ');
  const [made, ...others] = listBackups(folder);
  expect(others).toEqual([]);
  expect(told).toContain(`Saved in ${made?.file} (0.0 MB).`);
  expect(told).toContain('Keys and logins are not in it');
  const { facts, files } = await verifyBackup(made?.file ?? '');
  expect(facts.reason).toBe('manual');
  // The question itself is in it.
  expect(facts.rows['messages']).toBeGreaterThanOrEqual(3);
  expect(files.map(({ path }) => path)).toContain('project/groups/main/CLAUDE.md');
  noteBackupState(join(project.dir, 'data'), { drilledAt: Date.UTC(2026, 9, 3, 4) });
  const listed = await ask(assistant, '/backup list', made?.name ?? '');
  expect(listed).toContain('Last good drill: Sat 3 Oct 2026, 04:00');
  writeFileSync(join(project.dir, '.env'), 'BACKUP_TO=nonsense\n');
  await ask(assistant, '/backup', 'No backup was made: "nonsense" is not a public key of age');
  expect(listBackups(folder)).toHaveLength(1);
  await assistant.stop();
});

test('/resume here ends the silence of a restored assistant, and nothing else does', async () => {
  using project = new TestProject();
  const fence = fencePath(join(project.dir, 'data'));
  const first = await project.start();
  await ask(first, '/resume here', 'Nothing is held back here: channels and tasks work.');
  expect(project.restarts).toBe(0);
  const mark = { restoredAt: Date.now(), backupFrom: Date.now() };
  writeFileSync(fence, JSON.stringify(mark));
  await ask(first, '/status', 'held back: channels and tasks, until you say `/resume here`');
  await ask(first, '/resume', 'Is the other assistant on these accounts stopped for good?');
  await ask(first, '/resume there', 'Then say `/resume here`');
  expect(existsSync(fence)).toBe(true);
  await first.terminal.say('/resume here');
  await stopsForRestart(project, first);
  expect(existsSync(fence)).toBe(false);
  const second = await project.start();
  await hears(second, 'Andy continues here: channels and tasks are on.');
  await second.stop();
});
