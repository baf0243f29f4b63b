import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const TEXT = 'one\ntwo\nthree\nfour\nfive\n';

/** An installation as a claw before seals has left it: a record is a line and its checksum, and caches are none of ours. */
async function oldInstallation(): Promise<Codebase> {
  const codebase = temporaryCodebase({ 'a.txt': TEXT });
  codebase.git('init', '--quiet', '--initial-branch=main');
  commitAll(codebase, 'first');
  codebase.git('tag', 'v1.0.0');
  addSkill(codebase, 'one', { modify: { 'a.txt': [TEXT, TEXT.replace('one', 'ONE')] } });
  addSkill(codebase, 'five', { modify: { 'a.txt': [TEXT, TEXT.replace('five', 'FIVE')] } });
  expect((await codebase.claw('apply', 'one')).code).toBe(0);
  const backups = codebase.path('.claw/backup');
  for (const id of readdirSync(backups).filter((name) => /^\d{6}-/.test(name))) {
    takeSealOff(join(backups, id, 'record.json'));
  }
  for (const name of readdirSync(codebase.path('.claw/cache'), { withFileTypes: true })) {
    if (name.isFile()) writeFileSync(join(name.parentPath, name.name), '{"version":1}\n');
  }
  return codebase;
}

function takeSealOff(path: string): void {
  const [json, checksum, seal] = readFileSync(path, 'utf8').split('\n');
  expect(seal).not.toBe('');
  writeFileSync(path, `${json}\n${checksum}`);
}

test('an installation from before seals goes on: it is whole, changes, and takes back what it changed since', async () => {
  await using codebase = await oldInstallation();
  expect((await codebase.claw('status')).json).toMatchObject({ error: null, warnings: [] });
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true, damaged: [] });
  const before = codebase.read('a.txt');
  expect((await codebase.claw('apply', 'five')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('a.txt')).toBe(TEXT.replace('one', 'ONE').replace('five', 'FIVE'));
  expect((await codebase.claw('undo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('a.txt')).toBe(before);
  expect((await codebase.claw('remove', 'one')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('a.txt')).toBe(TEXT);
});

test('undo of what was done before seals says how the owner lets it count, and then takes it back', async () => {
  await using codebase = await oldInstallation();
  const tree = codebase.tree();
  expect((await codebase.claw('undo')).json.error).toMatchObject({
    code: 'NOTHING_TO_UNDO',
    message: expect.stringContaining('run `claw recover --adopt`, then `claw undo`'),
  });
  expect(codebase.tree()).toEqual(tree);
  expect((await codebase.claw('recover', '--adopt')).json).toMatchObject({ outcome: 'done' });
  expect((await codebase.claw('undo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('a.txt')).toBe(TEXT);
});
