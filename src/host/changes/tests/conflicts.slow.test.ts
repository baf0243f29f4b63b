import { expect, test, vi } from 'vitest';
import { TestProject, textsOf } from '../../../testing/assistant.ts';
import {
  ask,
  hears,
  read,
  skills,
  startModel,
  stopsForRestart,
  write,
} from '../../../testing/owner/owner-chat.ts';

const CODE = 'export const one = 1;\n\nexport const two = 2;\n\nexport const three = 3;\n';
const A = CODE.replace('= 2', "= 'a'");
const B = CODE.replace('= 2', "= 'b'");
const BETWEEN = `\n\n${['four', 'five', 'six'].map((name) => `export const ${name} = '${name}';\n\n`).join('')}`;
const BOTH = "export const two = ['a', 'b'];\n";
const B_TEST = `import test from 'node:test';
test('b', async () => {
  const { two } = await import('../../../src/a.ts');
  if (!String(two).includes('b')) throw new Error('the letter b is lost');
});
`;

/** A core on which the lines that both skills were written against have moved on. */
const PROJECT = {
  'package.json': '{ "name": "demo", "version": "1.0.0" }\n',
  'src/a.ts': A,
  'src/b.txt': 'mine\n',
  'claw.config.yaml': 'check: []\nexclude: [data/**]\n',
  ...skills({
    b: {
      modify: { 'src/a.ts': [CODE, B] },
      add: { 'src/c.txt': 'c\n' },
      tests: { 'b.test.ts': B_TEST },
    },
    two: { modify: { 'src/a.ts': [CODE, B] }, add: { 'src/b.txt': 'theirs\n' } },
  }),
  'skills/b/modify/src/a.ts.intent.md': '**Must keep:** the letter b.\n',
};

test('the agent’s proposal is proved before it is shown, and committed at the owner’s yes', async () => {
  let answer: object = { hunks: ["export const two = 'neither';\n"] };
  await using model = await startModel(() => answer);
  using project = new TestProject(PROJECT);
  const { environment } = model;
  const first = await project.start({ environment });

  const failed = await ask(first, '/add-b', 'Say a number');
  expect(failed).toContain('“apply b” meets one conflict:\n- `src/a.ts`, core against b');
  expect(failed).toContain('The agent found no solution: What the model proposes does not hold');
  expect(failed).toContain('the letter b is lost');
  expect(failed).toContain('`src/a.ts:3`, core against b.');
  expect(failed).toContain("b (Must keep: the letter b.):\n```\nexport const two = 'b';\n```");
  expect(read(project, 'src/a.ts')).toBe(A);

  answer = { hunks: [BOTH] };
  const proposed = await ask(first, '3', 'Say yes, no, or give up.');
  expect(proposed).toContain('anthropic/claude-test proposes for `src/a.ts`');
  expect(proposed).toContain("-export const two = 'a';\n+export const two = ['a', 'b'];");
  expect(proposed).toContain('Proved: 1 test file passes.\n- files: 1 changed (src/a.ts), 1 new (');
  await ask(first, 'no', '4. give up');
  await first.terminal.say('What is the weather like?');
  await hears(first, '“apply b” waits: `/conflicts` goes on with it');
  await vi.waitFor(() => expect(textsOf(first.terminal).at(-1)).toBe('pong'));
  await first.stop();

  const second = await project.start({ environment });
  await ask(second, '/conflicts', 'Say yes, no, or give up.');
  expect(read(project, 'src/a.ts')).toBe(A);
  await second.stop();
  const third = await project.start({ environment });
  await third.terminal.say('yes');
  await stopsForRestart(project, third);
  // It was proved on that very tree before.
  expect(textsOf(third.terminal).join('\n')).not.toContain('test: b');
  expect(read(project, 'src/a.ts')).toBe(CODE.replace('export const two = 2;\n', BOTH));
  const fourth = await project.start({ environment });
  await hears(fourth, 'b 1.0.0 is in: 2 files changed.');
  await ask(fourth, '/conflicts', 'Nothing waits for a decision.');
  await fourth.stop();
  expect(model.requests).toHaveLength(2);
});

test('without a model several conflicts are asked one by one, and `all` takes a side for the rest', async () => {
  using project = new TestProject(PROJECT);
  const first = await project.start({ environment: { ANTHROPIC_API_KEY: '' } });
  const asked = await ask(first, '/add-two', 'Say a number');
  expect(asked).toContain('1 of 2: `src/b.txt:1`, core against two.');
  expect(asked).not.toContain('let the agent try');
  // A number that no choice has is a slip, and no word to the agent.
  await ask(first, '9', 'There is no choice 9. Say a number from 1 to 5.');
  await ask(first, '/undo', '“apply two” waits: `/conflicts`');
  await hears(first, '“apply two” waits for your decision first');
  await ask(first, '/conflicts', '1 of 2');
  expect(await ask(first, '1', '2 of 2: `src/a.ts:3`')).not.toContain('all 1');
  await ask(first, 'give up', 'Given up. Everything is as it was.');
  await ask(first, '/add-two', '1 of 2');
  const shown = await ask(first, 'all 2', 'Say yes, no, or give up.');
  expect(shown).toContain("+export const two = 'b';");
  expect(shown).toContain('-mine\n+theirs');
  write(project, { 'src/a.ts': A.replace('three = 3', "three = 'edited'") });
  const again = await ask(first, 'yes', 'Say a number');
  expect(again).toContain('Something was edited since you were shown this');
  await ask(first, '2', 'Say yes, no, or give up.');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  expect(read(project, 'src/a.ts')).toBe(B.replace('three = 3', "three = 'edited'"));
  expect(read(project, 'src/b.txt')).toBe('theirs\n');
});

test('a file with several places is decided place by place where that is chosen', async () => {
  // Far enough apart to be two places: what only a line or two separates is one conflict.
  const apart = (code: string) =>
    code.replace('\n\nexport const three', `${BETWEEN}export const three`);
  using project = new TestProject({
    ...PROJECT,
    'src/a.ts': apart(A).replace('= 3', "= 'mine'"),
    ...skills({
      c: { modify: { 'src/a.ts': [apart(CODE), apart(B).replace('= 3', "= 'theirs'")] } },
    }),
  });
  const first = await project.start({ environment: { ANTHROPIC_API_KEY: '' } });
  const whole = await ask(first, '/add-c', 'place by place: decide each for itself');
  const [, places = ''] = /(\d+)\. place by place/.exec(whole) ?? [];
  const one = await ask(first, places, 'Place 1 of 2: `src/a.ts:3`, core against c.');
  expect(one).toContain('before:\n```\nexport const two = 2;\n```');
  expect(one).not.toContain("'theirs'");
  expect(one).toContain(
    "1. keep the core's\n2. take c's\n3. back: decide the file as a whole\n4. give up",
  );
  await ask(first, '2', 'Place 2 of 2: `src/a.ts:11`');
  await ask(first, '3', 'place by place: decide each for itself');
  await ask(first, 'places', 'Place 1 of 2');
  await ask(first, '2', 'Place 2 of 2');
  const shown = await ask(first, '1', 'Say yes, no, or give up.');
  expect(shown).toContain("+export const two = 'b';");
  expect(shown).not.toContain("'theirs'");
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  expect(read(project, 'src/a.ts')).toBe(apart(B).replace('= 3', "= 'mine'"));
});

test('a file is decided by its name and a choice, in whatever order, and may be decided again', async () => {
  using project = new TestProject(PROJECT);
  const first = await project.start({ environment: { ANTHROPIC_API_KEY: '' } });
  await ask(first, '/conflicts src/a.ts two', 'Nothing waits for a decision.');
  await ask(first, '/add-two', '1 of 2');
  const wrong = await ask(first, '/conflicts src/a.ts neither', 'No choice: neither.');
  expect(wrong).toContain('`src/a.ts:3`, core against two.');
  await ask(first, '/conflicts src/nowhere.ts two', 'to decide one file');
  const other = await ask(first, '/conflicts src/a.ts 2', 'Decided: `src/a.ts`.');
  expect(other).toContain('`src/b.txt:1`, core against two.');
  await ask(first, '/conflicts src/a.ts release', '`src/b.txt:1`, core against two.');
  const shown = await ask(first, '/conflicts src/b.txt two', 'Say yes, no, or give up.');
  expect(shown).toContain('-mine\n+theirs');
  expect(shown).toContain('You decided for `src/a.ts`: it stays as the core has it.');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  expect(read(project, 'src/a.ts')).toBe(A);
  expect(read(project, 'src/b.txt')).toBe('theirs\n');
});
