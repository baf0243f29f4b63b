import { expect, test } from 'vitest';
import { SCHEMAS } from '../../../packages/claw/src/contract/schemas.ts';
import {
  addSkill,
  type ClawRun,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const CORE = { 'package.json': versioned('1.0.0'), 'src/a.ts': LINES, 'src/b.ts': LINES };

/** A codebase in git with a skill that changes its fifth line. */
function codebaseWithSkill(): Codebase {
  const codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'a', { modify: { 'src/a.ts': [LINES, LINES.replace('five', 'FIVE of a')] } });
  commitAll(codebase, 'skills');
  return codebase;
}

// Every run of a test's codebase is checked against the schema of its verb (`checkContract`), so that here
// it is enough to have each verb tell as much as it can.
test('the data of every verb is what its schema says', async () => {
  await using codebase = codebaseWithSkill();
  const told = new Set<string>();
  const claw = async (...args: string[]): Promise<ClawRun['json']> => {
    const { json } = await codebase.claw(...args);
    if (json.data !== null || args[0] === 'abort') told.add(args[0] ?? '');
    return json;
  };
  await claw('init');
  await claw('plan', 'apply', 'a');
  await claw('apply', 'a');
  codebase.write({ 'src/b.ts': LINES.replace('one', 'ONE') });
  for (const args of [['status'], ['list'], ['list', '--available'], ['verify'], ['diff', 'a']]) {
    await claw(...args);
  }
  await claw('show', 'a');
  await claw('log');
  await claw('why', 'src/a.ts');
  await claw('doctor', '--offline');
  await claw('matrix', '--no-proof');
  await claw('plan', 'pack', 'b');
  await claw('pack', 'b');
  await claw('apply', 'b');
  codebase.write({ 'src/b.ts': LINES.replace('one', 'ONE and 1') });
  await claw('dev', 'b', '--once');
  await claw('undo');
  await claw('upgrade');
  await claw('replay');
  codebase.write({ 'src/b.ts': LINES.replace('nine', 'NINE of mine') });
  await claw('plan', 'customize', 'mine');
  await claw('customize', 'mine');
  addRelease(codebase, 'v1.1.0', {
    files: {
      'package.json': versioned('1.1.0'),
      'src/a.ts': LINES.replace('five', 'FIVE of 1.1'),
      'src/b.ts': LINES,
    },
  });
  await claw('adopt', 'v1.1.0');
  await claw('plan', 'update', 'v1.1.0');
  expect(await claw('update', 'v1.1.0')).toMatchObject({ outcome: 'blocked' });
  await claw('status');
  await claw('conflicts');
  await claw('conflicts', '--answers');
  expect(await claw('resolve', 'src/a.ts', '--take', 'a')).toMatchObject({ outcome: 'done' });
  await claw('continue', '--prove');
  expect(await claw('continue')).toMatchObject({ outcome: 'done', data: { verb: 'update' } });
  await claw('resolutions');
  await claw('plan', 'undo');
  await claw('remove', 'b');
  await claw('plan', 'rebase');
  await claw('rebase');
  await claw('abort');
  await claw('recover');
  expect([...told].sort()).toEqual(Object.keys(SCHEMAS).sort());
});

test('a field that the schema does not know is found', async () => {
  await using codebase = codebaseWithSkill();
  const { json } = await codebase.claw('status');
  const { checkContract } = await import('../../../src/testing/contract.ts');
  expect(() => checkContract(json)).not.toThrow();
  expect(() => checkContract({ ...json, data: { ...Object(json.data), more: 1 } })).toThrow(
    'status',
  );
});
