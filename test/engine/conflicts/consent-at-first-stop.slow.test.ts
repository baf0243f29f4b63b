import { expect, test } from 'vitest';
import * as engine from '../../../packages/claw/src/index.ts';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { contextOf } from '../in-process.ts';

const CI = '.github/workflows/ci.yml';

/** The owner has edited the line that a skill changes, which also brings a file that needs consent. */
function blockedCodebase(): Codebase {
  const codebase = temporaryCodebase({ 'a.txt': 'one\n' }, { git: true });
  addSkill(codebase, 'steering', {
    add: { [CI]: 'jobs: {}\n' },
    modify: { 'a.txt': ['one\n', 'two\n'] },
  });
  codebase.write({ 'a.txt': 'mine\n' });
  return codebase;
}

test('a command that stops at conflicts says at once what will need consent', async () => {
  await using codebase = blockedCodebase();
  const run = await codebase.claw('apply', 'steering');
  expect(run).toMatchObject({ code: 3, json: { outcome: 'blocked' } });
  const said = run.json.warnings.find((warning) => warning.includes(CI));
  const [, flags = ''] = /finish with: claw continue (.*)$/.exec(said ?? '') ?? [];
  expect(flags).toBe(`--allow ${CI}`);
  await codebase.claw('resolve', 'a.txt', '--theirs');
  const refused = await codebase.claw('continue');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONSENT_NEEDED' } } });
  expect((await codebase.claw('continue', ...flags.split(' '))).code).toBe(0);
  expect([codebase.read('a.txt'), codebase.read(CI)]).toEqual(['two\n', 'jobs: {}\n']);
});

for (const isYes of [true, false]) {
  test(`on a terminal it is asked for before the conflicts: ${isYes ? 'yes' : 'no'}`, async () => {
    await using codebase = blockedCodebase();
    const asked: string[] = [];
    const context = contextOf(codebase);
    const ask = async (question: string) => {
      asked.push(question);
      return isYes;
    };
    const blocked = await engine.apply({ ...context, ask }, ['steering']);
    expect(blocked.outcome).toBe('blocked');
    expect(asked).toEqual([
      `This changes ${CI}, which can run code or configure tools. Allow that?`,
    ]);
    expect(blocked.warnings.some((warning) => warning.includes(CI))).toBe(!isYes);
    await engine.resolve(context, 'a.txt', { kind: 'theirs' });
    const ended = engine.continueOperation(context);
    if (isYes) expect((await ended).outcome).toBe('done');
    else await expect(ended).rejects.toMatchObject({ code: 'CONSENT_NEEDED' });
    expect(codebase.has(CI)).toBe(isYes);
  });
}

test('a file in conflict counts, and what was named before is not asked for again', async () => {
  await using codebase = temporaryCodebase({ [CI]: 'one\n' }, { git: true });
  addSkill(codebase, 'steering', { modify: { [CI]: ['one\n', 'two\n'] } });
  codebase.write({ [CI]: 'mine\n' });
  expect((await codebase.claw('plan', 'apply', 'steering')).json.warnings).toContain(
    `This needs --allow ${CI}.`,
  );
  const run = await codebase.claw('apply', 'steering', '--allow', '.github/');
  expect(run.json.warnings.filter((warning) => warning.includes('--allow'))).toEqual([]);
  await codebase.claw('resolve', CI, '--theirs');
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read(CI)).toBe('two\n');
});
