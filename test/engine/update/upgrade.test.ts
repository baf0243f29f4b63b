import { expect, test } from 'vitest';
import { addSkill, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

test('an upgrade replaces the old layer, leaves no orphans, and keeps edits', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'src/old.ts': 'old\n', 'src/both.ts': 'both\n' },
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] },
  });
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('seven', 'mine') });
  addSkill(codebase, 'demo', {
    version: '2.0.0',
    add: { 'src/both.ts': 'both, new\n', 'src/new.ts': 'new\n' },
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE, new')] },
  });
  const planned = await codebase.claw('plan', 'upgrade', 'demo');
  expect(planned.json.changes.map(({ path, kind }) => [path, kind])).toEqual([
    ['src/a.ts', 'modify'],
    ['src/both.ts', 'modify'],
    ['src/new.ts', 'add'],
    ['src/old.ts', 'delete'],
  ]);
  expect((await codebase.claw('upgrade')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe('ONE, new\ntwo\nthree\nfour\nfive\nsix\nmine\n');
  expect(codebase.has('src/old.ts')).toBe(false);
  expect((await codebase.claw('list')).json.data).toMatchObject([{ version: '2.0.0' }]);
  expect((await codebase.claw('upgrade', 'demo')).json.outcome).toBe('nothing');
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES.replace('seven', 'mine'));
});

test('what is not applied cannot be upgraded, and other bytes need another version', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'demo', { add: { 'b.txt': 'b\n' } });
  addSkill(codebase, 'other', { add: { 'c.txt': 'c\n' } });
  await codebase.claw('apply', 'demo');
  expect((await codebase.claw('upgrade', 'other')).json.error?.code).toBe('SKILL_NOT_APPLIED');
  addSkill(codebase, 'demo', { add: { 'b.txt': 'changed\n' } });
  expect((await codebase.claw('upgrade', 'demo')).json.error?.code).toBe('DIGEST_MISMATCH');
});
