import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { digests, Installation } from './bench.ts';
import { makeNanoclaw, writeFiles } from './nanoclaw-store.ts';
import { makeOpenclaw } from './openclaw-store.ts';

type Made = { readonly root: string; readonly home: string };

const SECRET = 'the key of the owner, outside of the source\n';

/** Imports a source beside which its owner keeps a key, and returns what came of that, and the lines of the plan. */
async function imported(source: Made) {
  const here = new Installation();
  writeFiles(source.home, { 'private/id_ed25519': SECRET });
  const secret = digests(join(source.home, 'private')).map(([, digest]) => digest);
  const { plan } = await here.import(source, { isTakeOver: true });
  const came = digests(here.project).filter(([, digest]) => secret.includes(digest));
  return { came: came.map(([path]) => path), lines: plan.lines };
}

test('a folder of a group that leads out of the source brings nothing', async () => {
  const source = makeNanoclaw();
  const database = new Database(join(source.root, 'store/messages.db'));
  database.exec(
    "UPDATE registered_groups SET folder = '../../private' WHERE folder = 'telegram_work'",
  );
  database.close();
  await expect(imported(source)).rejects.toThrow('this is no name of a folder');
});

test.for(['groups', 'groups/main'])(
  '%s as a link brings nothing, and has a line',
  async (place) => {
    const source = makeNanoclaw();
    const elsewhere = join(source.home, 'private');
    mkdirSync(join(elsewhere, 'main'), { recursive: true });
    rmSync(join(source.root, place), { recursive: true });
    symlinkSync(elsewhere, join(source.root, place));
    writeFileSync(join(elsewhere, 'main/id_ed25519'), SECRET);
    const { came, lines } = await imported(source);
    expect(came).toEqual([]);
    expect(lines.filter(({ what }) => what.endsWith(place))).not.toEqual([]);
  },
);

test('a log of the database that is no file is not read', async () => {
  const source = makeNanoclaw();
  const log = join(source.root, 'store/messages.db-wal');
  rmSync(log, { force: true });
  spawnSync('mkfifo', [log]);
  await expect(new Installation().import(source)).rejects.toThrow(/messages\.db-wal/);
});

test('a file that has become a link since the plan was shown stops the import', async () => {
  const here = new Installation();
  const source = makeNanoclaw();
  writeFiles(source.home, { 'private/id_ed25519': SECRET });
  const notes = join(source.root, 'groups/main/notes/2026-11-27.md');
  const run = here.import(source, {
    decide: async () => {
      rmSync(notes);
      symlinkSync(join(source.home, 'private/id_ed25519'), notes);
      return { isWanted: true, withKeys: true };
    },
  });
  await expect(run).rejects.toThrow('has changed while it was read');
  expect(here.all('SELECT * FROM imports')).toEqual([]);
  expect(existsSync(join(here.project, 'groups/main'))).toBe(false);
});

test('an entry that is no file, is too deep or has a name that is not UTF-8 has a line', async () => {
  const source = makeNanoclaw();
  const group = join(source.root, 'groups/main');
  spawnSync('mkfifo', [join(group, 'pipe')]);
  const deep = Array.from({ length: 20 }, (_, at) => `d${at}`).join('/');
  writeFiles(group, { [`${deep}/x.txt`]: 'deep\n' });
  writeFileSync(Buffer.concat([Buffer.from(`${group}/caf`), Buffer.from([0xe9])]), 'cafe\n');
  const { lines } = await imported(source);
  for (const part of ['groups/main/pipe', 'groups/main/d0/', 'groups/main/caf'])
    expect(
      lines.filter(({ what }) => what.includes(part)),
      part,
    ).toHaveLength(1);
});

test('a workspace of OpenClaw outside of its folder has a line with its files', async () => {
  const source = makeOpenclaw('files');
  writeFiles(source.root, {
    'openclaw.json': JSON.stringify({
      agents: { defaults: { workspace: join(source.home, 'private') } },
    }),
  });
  const { came, lines } = await imported(source);
  expect(came).toEqual(['groups/main/id_ed25519']);
  expect(lines.map(({ what, text }) => `${what} ${text}`).join('\n')).toContain(
    `private/id_ed25519 lies outside of ${source.root}`,
  );
});

test('a view in the place of a table is refused', async () => {
  const source = makeNanoclaw();
  const database = new Database(join(source.root, 'store/messages.db'));
  database.exec(`ALTER TABLE messages RENAME TO m2; CREATE VIEW messages AS
    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3)
    SELECT m2.* FROM m2, n`);
  database.close();
  await expect(new Installation().import(source)).rejects.toThrow(/messages/);
});

test('no program that the settings of a checkout name is run', async () => {
  const source = makeNanoclaw();
  const git = (...args: string[]) => {
    const { stdout, stderr } = spawnSync('git', ['-C', source.root, ...args], { encoding: 'utf8' });
    return stdout.trim() || stderr;
  };
  writeFiles(source.root, { 'package.json': '{"name":"nanoclaw","version": "1.2.12"}' });
  git('init', '--quiet');
  git('add', 'package.json');
  const tree = git('write-tree');
  const who = 'A <a@example.org> 1700000000 +0000';
  const signed = `tree ${tree}\nauthor ${who}\ncommitter ${who}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nfirst\n`;
  const made = spawnSync(
    'git',
    ['-C', source.root, 'hash-object', '-t', 'commit', '-w', '--stdin'],
    { input: signed, encoding: 'utf8' },
  );
  git('update-ref', 'HEAD', made.stdout.trim());
  const program = join(source.root, 'store/run.sh');
  const ran = join(source.home, 'ran');
  writeFileSync(program, `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
  git('config', 'log.showSignature', 'true');
  git('config', 'gpg.program', program);
  git('log', '-1', '--format=%H');
  expect(existsSync(ran)).toBe(true);
  rmSync(ran);
  await new Installation().import(source);
  expect(existsSync(ran)).toBe(false);
});
