import { afterAll, beforeAll, expect, test } from 'vitest';
import { Assistant } from './assistant.ts';
import { type Clone, cloneRepository, runThere } from './clone.ts';

let clone: Clone;
beforeAll(() => {
  clone = cloneRepository();
});
afterAll(() => clone[Symbol.asyncDispose]());

test('npm start --silent with four commands piped in prints four answers on stdout, nothing else, and exits 0', async () => {
  const commands = '/help\n/status\n/skills\n/groups\n';
  const run = await runThere(clone.root, ['npm', 'start', '--silent'], commands);
  expect(run.code, run.stderr).toBe(0);
  const [greeting = '', ...answers] = run.stdout.split(/^> $/m);
  expect(run.stdout).toMatch(/^Hello, I am Andy/);
  expect(greeting.split('\n').filter((line) => /no model/i.test(line))).toEqual([
    expect.stringContaining('`npx claw setup` adds a key'),
  ]);
  expect(answers.slice(0, 4)).toEqual([
    expect.stringContaining('`/add-<skill>`'),
    expect.stringContaining('channel terminal: connected'),
    expect.stringContaining('`/add-telegram`'),
    expect.stringContaining('Terminal (groups/main'),
  ]);
  // Nothing but the prompt and the answers: the log is in its files.
  expect(run.stdout).not.toMatch(/"level"|INFO/);
  expect(run.stderr).not.toMatch(/"level"|INFO/);
  expect(clone.git('status', '--porcelain')).toBe('');
});

test('the second start is at its prompt too, and ends with its input', async () => {
  await using assistant = await Assistant.start(clone, 'npm');
  expect(assistant.stdout).toMatch(/\n> $/);
  expect(await assistant.end()).toBe(0);
});
