import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import { compositionOf } from '../../../lib/composition.ts';
import { openStore } from '../../../store/store.ts';
import { TestProject, textsOf } from '../../../testing/assistant.ts';
import { CLAW } from '../../../testing/claw/claw.ts';
import { killAt } from '../../../testing/kill.ts';
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
const NO_MODEL = { ANTHROPIC_API_KEY: '' };
const CONFIG = { 'claw.config.yaml': 'check: []\nexclude: [data/**, dying.ts]\n' };
const CORE = { 'package.json': '{ "name": "demo", "version": "1.0.0" }\n', ...CONFIG };

const envSkill = (example: string) => ({
  manifest: { structured: { env_additions: [{ name: 'RANGE', example }] } },
});
/** A test of a skill that runs until the test has said that it may end: a proof sees the packages, and nothing else outside. */
const SLOW_TEST = `import test from 'node:test';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
test('slow', async () => {
  while (!existsSync('node_modules/.cache/go-on')) await sleep(20);
});
`;
const WITH_PACKAGES = { 'node_modules/README.md': 'none\n' };
const goOn = (project: TestProject) => write(project, { 'node_modules/.cache/go-on': '' });

test('a value is resolved by a side, or by another one in words', async () => {
  using project = new TestProject({
    ...CORE,
    ...skills({ a: envSkill('^1.0.0'), b: envSkill('^2.0.0') }),
  });
  const first = await project.start({ environment: NO_MODEL });
  await ask(first, '/add-a', 'Say yes or no.');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  const second = await project.start({ environment: NO_MODEL });
  const asked = await ask(second, '/add-b', 'Say a number');
  expect(asked).toContain("1. keep a's: ");
  expect(asked).toContain('3. another value: say `value` and what it is');
  await ask(second, 'value', 'Say `value` and then what it should be');
  const shown = await ask(second, 'value ^1.5.0', 'Say yes, no, or give up.');
  expect(shown).toContain('You decided for `.env.example#RANGE');
  await second.terminal.say('yes');
  await stopsForRestart(project, second);
  expect(read(project, '.env.example')).toContain('RANGE=^1.5.0');
});

test('a file that one side has taken away is kept or goes, as the owner says', async () => {
  using project = new TestProject({
    ...CORE,
    'src/a.ts': CODE,
    ...skills({ b: { modify: { 'src/a.ts': [CODE, B] } } }),
  });
  const first = await project.start({ environment: NO_MODEL });
  await ask(first, '/add-b', 'Say yes or no.');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  rmSync(join(project.dir, 'src/a.ts'));
  const second = await project.start({ environment: NO_MODEL });
  const asked = await ask(second, '/remove-b', 'Say a number');
  expect(asked).toContain('1. leave the file deleted, as you have it');
  const shown = await ask(second, '1', 'Say yes, no, or give up.');
  expect(shown).toContain('it stays as you have it');
  await second.terminal.say('yes');
  await stopsForRestart(project, second);
  const third = await project.start({ environment: NO_MODEL });
  await hears(third, 'b is out');
  expect(existsSync(join(project.dir, 'src/a.ts'))).toBe(false);
  await third.stop();
});

test('an undo that meets later edits is decided in the same way', async () => {
  using project = new TestProject({
    ...CORE,
    'src/a.ts': CODE,
    ...skills({ b: { modify: { 'src/a.ts': [CODE, B] } } }),
  });
  const first = await project.start({ environment: NO_MODEL });
  await ask(first, '/add-b', 'Say yes or no.');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  write(project, { 'src/a.ts': B.replace("'b'", "'mine'") });
  const second = await project.start({ environment: NO_MODEL });
  const asked = await ask(second, '/undo', 'Say a number');
  expect(asked).toContain('1. keep yours\n2. take what was there before\n3. give up');
  expect(await ask(second, '1', 'Say yes, no, or give up.')).toContain('An undo needs no proof.');
  await second.terminal.say('yes');
  await stopsForRestart(project, second);
  const third = await project.start({ environment: NO_MODEL });
  await hears(third, 'The last change is undone');
  expect(read(project, 'src/a.ts')).toContain("two = 'mine'");
  await third.stop();
});

test('a file in the way is moved by the owner, and the change is planned again', async () => {
  using project = new TestProject({
    ...CORE,
    'claw.config.yaml': 'check: []\nexclude: [data/**, src/c.txt/**]\n',
    ...skills({ c: { add: { 'src/c.txt': 'c\n' } } }),
  });
  mkdirSync(join(project.dir, 'src/c.txt'), { recursive: true });
  write(project, { 'src/c.txt/mine.txt': 'mine\n' });
  const assistant = await project.start();
  const asked = await ask(assistant, '/add-c', 'Say a number');
  expect(asked).toContain('1. look again: I have moved it out of the way\n2. give up');
  await ask(assistant, '1', '1. look again');
  rmSync(join(project.dir, 'src/c.txt'), { recursive: true });
  await ask(assistant, '1', 'Say yes, no, or give up.');
  await assistant.terminal.say('yes');
  await stopsForRestart(project, assistant);
  expect(read(project, 'src/c.txt')).toBe('c\n');
});

test('a model that fails leaves the choice to the owner, with the reason', async () => {
  let isDown = true;
  await using model = await startModel(() =>
    isDown ? { kind: 'error', status: 401 } : { give_up: 'only you know' },
  );
  using project = new TestProject({
    ...CORE,
    'src/a.ts': A,
    ...skills({ b: { modify: { 'src/a.ts': [CODE, B] } } }),
  });
  const { environment } = model;
  const assistant = await project.start({ environment });
  expect(await ask(assistant, '/add-b', 'Say a number')).toContain('refused the API key');
  isDown = false;
  expect(await ask(assistant, '3', 'Say a number')).toContain('gave up: only you know');
  expect(read(project, 'src/a.ts')).toBe(A);
  await ask(assistant, '/conflicts now', 'Say `/conflicts` to go on');
  await ask(assistant, '/conflicts abort', 'Given up. Everything is as it was.');
  await ask(assistant, '/conflicts now', 'Nothing waits for a decision.');
  await assistant.stop();
});

test('an answer to a question about something that does not wait any more does nothing', async () => {
  using project = new TestProject({
    ...CORE,
    'src/a.ts': A,
    ...skills({
      b: { modify: { 'src/a.ts': [CODE, B] } },
      c: { modify: { 'src/a.ts': [CODE, B.replace("'b'", "'c'")] } },
    }),
  });
  const assistant = await project.start({ environment: NO_MODEL });
  await ask(assistant, '/add-b', 'Say a number');
  await clawBeside(project, 'abort');
  await ask(assistant, '1', 'That operation does not wait any more.');
  await ask(assistant, '/add-b', 'Say a number');
  await clawBeside(project, 'apply', 'c');
  await ask(assistant, '1', '“apply c” does: say `/conflicts`.');
  expect(read(project, 'src/a.ts')).toBe(A);
  await assistant.stop();
});

test('killed while the model thinks, the next process takes up what waits', async () => {
  const asked = Promise.withResolvers<void>();
  await using model = await startModel(() => {
    asked.resolve();
    return { kind: 'stall' };
  });
  using project = new TestProject({
    ...CORE,
    'src/a.ts': A,
    ...skills({ b: { modify: { 'src/a.ts': [CODE, B] } } }),
  });
  const environment = { ...model.environment, CLAW_TURN_TIMEOUT_MS: '5000' };
  await killAt(project, sayUntil('/add-b', 'Asking the model', environment));
  await asked.promise;
  const next = await project.start({ environment });
  await hears(next, 'Say a number');
  expect(textsOf(next.terminal)[0]).toBe('Adding b was interrupted. Nothing was changed.');
  await ask(next, '2', 'Say yes, no, or give up.');
  await next.terminal.say('yes');
  await stopsForRestart(project, next);
  expect(read(project, 'src/a.ts')).toBe(B);
});

test('killed while it is proved, the next process waits for the proof and asks', async () => {
  using project = new TestProject({
    ...CORE,
    ...WITH_PACKAGES,
    'src/a.ts': A,
    ...skills({ b: { modify: { 'src/a.ts': [CODE, B] }, tests: { 'b.test.ts': SLOW_TEST } } }),
  });
  const first = await project.start({ environment: NO_MODEL });
  await ask(first, '/add-b', 'Say a number');
  await first.stop();
  await killAt(project, sayUntil('2', 'test: b', NO_MODEL));
  const next = await project.start({ environment: NO_MODEL });
  await hears(next, 'A change that was begun before is still under way.');
  goOn(project);
  const said = await hears(next, 'Say yes, no, or give up.');
  expect(said).toContain('Adding b was interrupted. Nothing was changed.');
  expect(said).not.toContain('test: b');
  await next.terminal.say('yes');
  await stopsForRestart(project, next);
  expect(read(project, 'src/a.ts')).toBe(B);
});

test('killed while it is carried out, the next process starts what its claw has published', async () => {
  using project = new TestProject({
    ...CORE,
    ...WITH_PACKAGES,
    ...skills({ slow: { add: { 'src/c.txt': 'c\n' }, tests: { 'c.test.ts': SLOW_TEST } } }),
  });
  const first = await project.start({ environment: NO_MODEL });
  await ask(first, '/add-slow', 'Say yes or no.');
  await first.stop();
  await killAt(project, sayUntil('yes', 'test: slow', NO_MODEL));
  const next = await project.start({ environment: NO_MODEL });
  goOn(project);
  await stopsForRestart(project, next);
  expect(read(project, 'src/c.txt')).toBe('c\n');
  const last = await project.start({ environment: NO_MODEL });
  await hears(last, 'slow 1.0.0 is in.');
  await vi.waitFor(() => expect(last.terminal.acknowledged).not.toEqual([]));
  await last.stop();
});

test('published while the next process starts, what its claw has made is started before it is told', async () => {
  using project = new TestProject({
    ...CORE,
    ...WITH_PACKAGES,
    ...skills({ slow: { add: { 'src/c.txt': 'c\n' }, tests: { 'c.test.ts': SLOW_TEST } } }),
  });
  const first = await project.start({ environment: NO_MODEL });
  await ask(first, '/add-slow', 'Say yes or no.');
  await first.stop();
  await killAt(project, sayUntil('yes', 'test: slow', NO_MODEL));
  const composition = compositionOf(project.dir);
  goOn(project);
  await vi.waitFor(() => expect(compositionOf(project.dir)).not.toBe(composition), 60_000);
  const next = await project.start({ environment: NO_MODEL, over: { composition } });
  await stopsForRestart(project, next);
  const last = await project.start({ environment: NO_MODEL });
  await hears(last, 'slow 1.0.0 is in.');
  await last.stop();
});

test('a change that another version began, or that cannot be read any more, is told all the same', async () => {
  using project = new TestProject({
    ...CORE,
    ...skills({ c: { add: { 'src/c.txt': 'c\n' } }, d: { add: { 'src/d.txt': 'd\n' } } }),
  });
  const first = await project.start();
  await ask(first, '/add-c', 'Say yes or no.');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  const store = openStore({ path: join(project.dir, 'data/claw.db'), now: Date.now() });
  const [turn] = store.turns.leftBy({ not: 'test' });
  store.turns.adopt(turn?.id ?? '', { owner: 'test', until: Date.now() });
  const kept = { kind: 'kept', command: 'add-<skill>', data: { skill: 'c' } };
  store.turns.keep(turn?.id ?? '', 'test', kept);
  store.turns.suspend(turn?.id ?? '', 'test');
  store.close();
  const second = await project.start({}, 'The stars were wrong.');
  await hears(second, 'The change was taken back');
  await hears(second, 'The stars were wrong.');
  await ask(second, '/add-d', 'Say yes or no.');
  await second.terminal.say('yes');
  await stopsForRestart(project, second);
  write(project, { '.claw/state.yaml': 'nonsense: [\n' });
  const third = await project.start();
  await hears(third, 'Adding d did not end well. ');
  await third.stop();
});

/** The script of an assistant that is killed once it has said `part`. */
function sayUntil(text: string, part: string, environment: object): string {
  return `
    const { terminal } = await startAssistant(dir, { environment: ${JSON.stringify(environment)} });
    await terminal.say(${JSON.stringify(text)});
    const timer = setInterval(() => {
      if (terminal.sent.some(({ text }) => text.includes(${JSON.stringify(part)}))) now();
    }, 10);`;
}

/** Runs `claw` beside the assistant of a project, as the same user: with the same home. */
async function clawBeside({ dir }: TestProject, ...args: readonly string[]): Promise<void> {
  await execa(process.execPath, [CLAW, ...args], { cwd: dir, env: { HOME: dir }, reject: false });
}
