import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBackupState } from '../../../store/backup/backup-state.ts';
import { openStore } from '../../../store/store.ts';
import { lockInstance } from '../../../supervisor/instance-lock.ts';

const HOME = resolve(import.meta.dirname, '../../../..');
let root: string;
let project: string;
let data: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'backup-verb-'));
  project = join(root, 'project');
  data = join(project, 'data');
  mkdirSync(project);
  const files = execFileSync('git', ['ls-files', '-z', '--', ':!skills', ':!test', ':!docs'], {
    cwd: HOME,
  });
  execFileSync('tar', ['-c', '--null', '-T', '-', '-f', join(root, 'tree.tar')], {
    cwd: HOME,
    input: files,
  });
  execFileSync('tar', ['-xf', join(root, 'tree.tar')], { cwd: project });
  symlinkSync(join(HOME, 'node_modules'), join(project, 'node_modules'));
  mkdirSync(join(project, 'groups/main'), { recursive: true });
  writeFileSync(join(project, 'groups/main/CLAUDE.md'), 'Likes tea.\n');
  const store = openStore({ path: join(data, 'claw.db'), now: 1 });
  for (let n = 0; n < 300; n += 1) store.meta.set(`note-${n}`, 'x'.repeat(500));
  store.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function claw(...args: readonly string[]) {
  const given = args.includes('--cwd') ? args : [...args, '--cwd', project];
  const run = spawnSync(process.execPath, [join(HOME, 'bin/claw.js'), ...given], {
    cwd: project,
    encoding: 'utf8',
  });
  return { status: run.status, output: run.stdout + run.stderr };
}

test('a drill restores the newest backup, starts it and asks it; a backup that does not start is told', () => {
  expect(claw('backup').status).toBe(0);
  const good = claw('backup', '--drill');
  expect(good.output).toContain('it answered 3 questions');
  expect(good.output).toContain('A copy of this installation gave the same answers.');
  expect(readBackupState(data)).toMatchObject({
    drilledAt: expect.any(Number),
    drillFailure: null,
  });
  const main = join(project, 'src/main.ts');
  const whole = readFileSync(main, 'utf8');
  appendFileSync(main, '\nthrow new Error("broken by its owner");\n');
  expect(claw('backup', '--reason', 'update').status).toBe(0);
  const bad = claw('backup', '--drill');
  expect(bad.status).not.toBe(0);
  expect(bad.output).toContain('did not answer');
  expect(readBackupState(data).drillFailure?.reason).toContain('broken by its owner');
  writeFileSync(main, whole);
  expect(readdirSync(join(data, 'tmp'))).toEqual([]);
});

test('a drill fails where the restored assistant knows less, and tries one of now where something has changed since', () => {
  expect(claw('backup').status).toBe(0);
  const shared = join(project, 'groups/global/CLAUDE.md');
  mkdirSync(join(project, 'groups/global'), { recursive: true });
  writeFileSync(shared, 'Everybody speaks English.\n');
  const since = claw('backup', '--drill');
  expect(since.output).toContain(
    'a backup of now was tried too: it and a copy of this installation',
  );
  expect(readdirSync(join(data, 'tmp'))).toEqual([]);
  expect(since.status).toBe(0);
  // As if the backup had left it out.
  utimesSync(shared, 1, 1);
  const bad = claw('backup', '--drill');
  expect(bad.output).toContain('does not answer as this installation does');
  expect(bad.status).not.toBe(0);
  rmSync(join(project, 'groups/global'), { recursive: true });
});

test('the list of shared folders is in a backup, and a restore puts it where nothing reads it', () => {
  const list = join(root, 'mounts.yaml');
  writeFileSync(list, 'mounts: []\n');
  writeFileSync(join(project, '.env'), `CLAW_MOUNTS=${list}\n`);
  const folder = join(root, 'with-mounts');
  expect(claw('backup', folder).status).toBe(0);
  rmSync(list);
  const [name = ''] = readdirSync(folder);
  expect(name).toMatch(/-manual\.tar\.zst$/);
  const back = claw('restore', join(folder, name), '--only', 'groups', '--yes');
  expect(back.output).toContain('The list of shared folders is in data/mounts-of-backup.yaml.');
  expect(readFileSync(join(data, 'mounts-of-backup.yaml'), 'utf8')).toBe('mounts: []\n');
  expect(existsSync(list)).toBe(false);
  rmSync(join(project, '.env'));
  const settings = claw('restore', join(folder, name), '--only', 'settings', '--yes');
  expect(settings.output).toContain('Keys that were left out are named in .env.');
  expect(settings.output).not.toContain('source file');
  rmSync(join(project, '.env'));
});

test('BACKUP_AFTER gets the file: restic has it in a repository', () => {
  const repository = join(root, 'restic');
  const env = {
    ...process.env,
    RESTIC_PASSWORD: 'x',
    RESTIC_REPOSITORY: repository,
    RESTIC_CACHE_DIR: join(root, 'cache'),
  };
  const restic = (...args: readonly string[]) => {
    const program = 'restic';
    return execFileSync(program, args, { env, encoding: 'utf8' });
  };
  restic('init');
  const settings = `RESTIC_PASSWORD=x RESTIC_REPOSITORY='${repository}' RESTIC_CACHE_DIR='${root}/cache' restic backup "$1"`;
  writeFileSync(
    join(project, '.env'),
    `BACKUP_AFTER=${JSON.stringify(settings).replaceAll('\\"', "'").replaceAll("'$1'", '$1').replaceAll("''", "'")}\n`,
  );
  const made = claw('backup', join(root, 'kept'));
  expect(made.output).toContain('Backup: ');
  expect(made.status).toBe(0);
  const [file = ''] = readdirSync(join(root, 'kept'));
  expect(restic('ls', 'latest')).toContain(join(root, 'kept', file));
  writeFileSync(join(project, '.env'), 'BACKUP_AFTER="echo no room on it >&2; exit 3"\n');
  const failed = claw('backup');
  expect(failed.status).not.toBe(0);
  expect(failed.output).toContain('The backup is made');
  expect(failed.output).toContain('no room on it');
  rmSync(join(project, '.env'));
});

test('a restore into a clone that nothing has run in yet saves what it replaces', () => {
  const clone = join(root, 'clone');
  mkdirSync(clone);
  execFileSync('tar', ['-xf', join(root, 'tree.tar')], { cwd: clone });
  symlinkSync(join(HOME, 'node_modules'), join(clone, 'node_modules'));
  expect(claw('backup', '../for-clone').status).toBe(0);
  const [name = ''] = readdirSync(join(root, 'for-clone'));
  const own = {
    'src/verb.ts': '// mine\n',
    'src/own.ts': '// new\n',
    'groups/main/own.md': 'own\n',
  };
  mkdirSync(join(clone, 'groups/main'), { recursive: true });
  for (const [path, text] of Object.entries(own)) writeFileSync(join(clone, path), text);
  const restored = claw('restore', join(root, 'for-clone', name), '--cwd', clone);
  expect(restored.status, restored.output).toBe(0);
  const [, saved = ''] = /^What was here is saved: (.*)$/m.exec(restored.output) ?? [];
  expect(existsSync(join(clone, 'src/own.ts'))).toBe(false);
  expect(claw('restore', saved, '--yes', '--cwd', clone).output).toContain('Restored');
  for (const [path, text] of Object.entries(own)) {
    expect(readFileSync(join(clone, path), 'utf8')).toBe(text);
  }
}, 300_000);

test('a restore waits for nobody: it refuses while the assistant runs', () => {
  const lock = lockInstance(data, process.pid);
  if (lock.kind !== 'held') throw new Error('The folder is in use.');
  const [name = ''] = readdirSync(join(root, 'kept'));
  expect(claw('restore', join(root, 'kept', name), '--yes').output).toContain('Stop it first');
  lock.release();
});

test('a repair offers the newest backup, and its database can take the place of a damaged one', () => {
  expect(claw('backup', '--reason', 'daily').status).toBe(0);
  const path = join(data, 'claw.db');
  const { size } = statSync(path);
  const file = openSync(path, 'r+');
  for (let at = 4096 * 40; at < size - 4096 * 4; at += 4096)
    writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, at);
  closeSync(file);
  const repaired = claw('repair', '--yes');
  expect(repaired.output).toMatch(/Newest backup: patchclaw-\S+-daily\.tar\.zst/);
  expect(repaired.output).toMatch(/meta: \d+ saved, 300 in it/);
  const name = /npx claw restore (\S+) --only database/.exec(repaired.output)?.[1] ?? '';
  expect(claw('restore', name, '--only', 'database', '--yes').output).toContain('Restored');
  const database = new Database(path, { readonly: true });
  expect(database.prepare('SELECT count(*) FROM meta').pluck().get()).toBe(300);
  database.close();
  expect(existsSync(join(project, '.restore'))).toBe(false);
});
