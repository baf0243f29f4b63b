import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

/** A main branch with a skill in, one that is decided but not carried out, and a branch without claw. */
async function twoBranches(): Promise<Codebase> {
  const files = { 'package.json': '{"version":"1.0.0"}\n', 'a.txt': LINES };
  const codebase = temporaryCodebase(files, { git: true });
  const change = (text: string) => ({
    modify: { 'a.txt': [LINES, LINES.replace('one', text)] as const },
  });
  addSkill(codebase, 'demo', change('demo'));
  addSkill(codebase, 'rival', change('rival'));
  commitAll(codebase, 'skills');
  codebase.git('branch', 'other');
  codebase.git('checkout', '--quiet', '-b', 'later');
  codebase.write({ 'package.json': '{"version":"2.0.0"}\n' });
  commitAll(codebase, 'a later release');
  codebase.git('checkout', '--quiet', '-b', 'broken');
  codebase.write({ 'migrations.yaml': 'since: 1\n' });
  commitAll(codebase, 'a release with broken migrations');
  codebase.git('checkout', '--quiet', 'main');
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  commitAll(codebase, 'with demo');
  expect((await codebase.claw('apply', 'rival')).code).toBe(3);
  expect((await codebase.claw('resolve', 'a.txt', '--theirs')).code).toBe(0);
  return codebase;
}

type Refused = readonly [code: string, ...args: string[]];

/** Refusals while another branch's operation waits. */
const WHILE_WAITING: readonly Refused[] = [
  ['STATE_CHANGED', 'continue'],
  ['STATE_CHANGED', 'continue', '--prove'],
  ['STATE_CHANGED', 'resolve', 'a.txt', '--ours'],
  ['STATE_CHANGED', 'undo'],
  ['OPERATION_PENDING', 'apply', 'demo'],
  ['OPERATION_PENDING', 'init'],
  ['OPERATION_PENDING', 'adopt', 'main'],
  ['OPERATION_PENDING', 'remove', 'demo'],
  ['OPERATION_PENDING', 'upgrade'],
  ['OPERATION_PENDING', 'replay'],
  ['OPERATION_PENDING', 'update', 'v1.0.0'],
  ['OPERATION_PENDING', 'customize', 'mine'],
  ['OPERATION_PENDING', 'rebase'],
  ['OPERATION_PENDING', 'pack', 'mine'],
  ['USAGE', 'resolutions', 'forget', '0000000000000000'],
];

/** Refusals while nothing waits, and no state exists. */
const WITHOUT_STATE: readonly Refused[] = [
  ['SKILL_NOT_FOUND', 'apply', 'nowhere'],
  ['PLAN_CHANGED', 'apply', 'demo', '--expect', `sha256:${'0'.repeat(64)}`],
  ['RELEASE_NOT_FOUND', 'init', '--release', 'nowhere'],
  ['RELEASE_NOT_FOUND', 'adopt', 'nowhere'],
  ['NOT_INITIALISED', 'remove', 'demo'],
  ['NOT_INITIALISED', 'upgrade'],
  ['NOT_INITIALISED', 'replay'],
  ['RELEASE_NOT_FOUND', 'update', 'nowhere'],
  ['RELEASE_NOT_FOUND', 'update', 'other', '--release', 'nowhere'],
  ['SKILL_NOT_APPLIED', 'update', 'other', '--keep', 'nowhere'],
  ['USAGE', 'update', '.'],
  ['PLAN_CHANGED', 'update', 'later', '--expect', `sha256:${'0'.repeat(64)}`],
  ['SCHEMA_INVALID', 'update', 'broken'],
  ['STATE_CHANGED', 'undo'],
  ['USAGE', 'pack', 'mine', '--range', 'nowhere..HEAD'],
];

/** Refusals while a skill is applied. */
const WITH_STATE: readonly Refused[] = [
  ['SKILL_NOT_FOUND', 'apply', 'nowhere'],
  ['PLAN_CHANGED', 'remove', 'demo', '--expect', `sha256:${'0'.repeat(64)}`],
  ['TESTS_FAILED', 'apply', 'broken'],
  ['CONSENT_NEEDED', 'apply', 'steering'],
  ['ALREADY_INITIALISED', 'init'],
  ['SKILL_NOT_APPLIED', 'remove', 'rival'],
  ['RELEASE_NOT_FOUND', 'update', 'nowhere'],
  ['USAGE', 'pack', 'mine', '--range', 'nowhere..HEAD'],
  ['SKILL_NOT_FOUND', 'pack', 'nowhere', '--update'],
];

test('on a branch without claw, no refused command leaves what git trips over', async () => {
  await using codebase = await twoBranches();
  codebase.git('checkout', '--quiet', 'other');
  await expectNothingWritten(codebase, WHILE_WAITING);
  codebase.git('checkout', '--quiet', 'main');
  const done = await codebase.claw('continue');
  expect(done).toMatchObject({ code: 0, json: { outcome: 'done' } });
  expect(codebase.read('a.txt')).toBe(LINES.replace('one', 'rival'));
});

test('what is refused for want of a state writes nothing beside what another branch left', async () => {
  await using codebase = await twoBranches();
  await codebase.claw('abort');
  codebase.git('checkout', '--quiet', 'other');
  await expectNothingWritten(codebase, WITHOUT_STATE);
  // A command that has nothing to do is not refused, and leaves nothing either.
  const before = everything(codebase.root);
  for (const verb of ['abort', 'recover', 'continue', 'rebase', 'customize mine']) {
    expect(await codebase.claw(...verb.split(' '))).toMatchObject({
      code: 0,
      json: { outcome: 'nothing' },
    });
    expect(everything(codebase.root), verb).toEqual(before);
  }
  codebase.git('checkout', '--quiet', 'main');
  expect((await codebase.claw('verify')).code).toBe(0);
});

test('a codebase that claw has nothing to do with is left alone by what is refused', async () => {
  await using codebase = await twoBranches();
  codebase.git('checkout', '--quiet', 'other');
  codebase.remove('.claw');
  const refused = WITHOUT_STATE.filter(([, verb]) => verb !== 'undo');
  await expectNothingWritten(codebase, [...refused, ['NOTHING_TO_UNDO', 'undo']]);
  expect(codebase.has('.claw')).toBe(false);
});

test('an installation is the same to the byte after every refusal', async () => {
  await using codebase = await twoBranches();
  await codebase.claw('abort');
  addSkill(codebase, 'broken', {
    add: { 'b.txt': 'b\n' },
    tests: { 'b.test.mjs': "throw new Error('never');\n" },
  });
  addSkill(codebase, 'steering', { add: { '.github/workflows/ci.yml': 'on: push\n' } });
  commitAll(codebase, 'more skills');
  await expectNothingWritten(codebase, WITH_STATE);
  expect(codebase.git('status', '--porcelain')).toBe('');
});

async function expectNothingWritten(
  codebase: Codebase,
  refusals: readonly Refused[],
): Promise<void> {
  const before = everything(codebase.root);
  for (const [code, ...args] of refusals) {
    const run = await codebase.claw(...args);
    expect.soft(run.json.error?.code, args.join(' ')).toBe(code);
    expect.soft(everything(codebase.root), args.join(' ')).toEqual(before);
  }
}

/** Every file with its content, but git's own and what claw keeps to be faster. */
function everything(root: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(root.length + 1);
    if (/^(\.git|\.claw\/cache)(\/|$)/.test(path)) continue;
    found[path] = entry.isFile() ? fs.readFileSync(join(root, path), 'latin1') : 'folder';
  }
  return found;
}
