import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { examination, hooksFile, setup } from './fixtures.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'claw-webhook-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Runs the step with these words, and answers for its questions. */
async function run(args: readonly string[], answers: readonly string[] = []) {
  const { context, said, problems } = ownerAtKeyboard(answers, { args, dataDir });
  const outcome = await setup.run({}, context);
  return { ...outcome, said, problems };
}

const findings = async () =>
  (await examination.examine({ ...examinedSettings({}), dataDir })).map(
    ({ ok, message }) => `${ok ? 'ok' : 'problem'}: ${message}`,
  );

const listed = () => JSON.parse(readFileSync(hooksFile(dataDir), 'utf8')).hooks;

test('a hook is made by questions, with a secret of its own that only the owner can read', async () => {
  expect(setup.currentState({}, dataDir)).toBeNull();
  expect(await findings()).toEqual(['ok: no hooks yet']);
  const answers = [
    'Front Door',
    'door',
    '../etc',
    'main',
    'mail',
    'github',
    'dance',
    'turn',
    'Say who.',
  ];
  const { said, problems, summary } = await run([], answers);
  expect(problems).toEqual([
    expect.stringContaining('small letters'),
    expect.stringContaining('/groups'),
    'Type one of: github, signed, token.',
    'Type one of: turn, message.',
  ]);
  expect(summary).toContain('door is made');
  const { door } = listed();
  expect(door).toMatchObject({ group: 'main', from: 'github', does: 'turn', text: 'Say who.' });
  expect(Buffer.from(door.secret, 'base64url')).toHaveLength(32);
  expect(said.join('\n')).toContain(door.secret);
  expect(said.join('\n')).toContain('http://127.0.0.1:PORT/hooks/door');
  // The terminal does not break a line that is moved in.
  expect(said).toContainEqual(expect.stringMatching(/^ {2}body=.*\n {2}sum=.*\n {2}curl /));
  expect(statSync(hooksFile(dataDir)).mode & 0o777).toBe(0o600);
  expect(setup.currentState({}, dataDir)).toBe('door');
  expect(await findings()).toEqual(['ok: door (turn in main)']);
  chmodSync(hooksFile(dataDir), 0o644);
  expect(await findings()).toContainEqual(
    expect.stringMatching(/^problem: others on this machine/),
  );
});

test('it is made by one line, shown, listed and removed', async () => {
  await run(['add', 'a', '--group', 'family', '--from', 'signed', '--does', 'message']);
  // It counts at once: a running assistant is not stopped for it.
  expect((await run(['add', 'b'])).needsRestart).toBe(false);
  expect(listed()).toMatchObject({
    a: {
      group: 'family',
      from: 'signed',
      does: 'message',
      secret: expect.stringMatching(/^whsec_/),
    },
    b: { group: 'main', from: 'token', does: 'turn' },
  });
  expect(listed().a.secret).not.toBe(listed().b.secret);
  const { said, data, needsRestart } = await run(['list']);
  expect(needsRestart).toBe(false);
  expect(data).toEqual({ hooks: ['a', 'b'] });
  expect(said).toEqual([
    '- a: message in family, called by a program (signed)',
    '- b: turn in main, called by a program (token)',
  ]);
  expect((await run(['show', 'b'])).said.join('\n')).toContain(listed().b.secret);
  await run(['remove', 'a']);
  expect(Object.keys(listed())).toEqual(['b']);
});

test('wrong words are refused, and a file that cannot be read is left as it is', async () => {
  await run(['add', 'a']);
  await expect(run(['add', 'a'])).rejects.toThrow('There is a hook a already');
  await expect(run(['add', 'b', '--from', 'mail'])).rejects.toMatchObject({ isWrongUse: true });
  await expect(run(['add', 'b', '--loud'])).rejects.toThrow("Unknown option '--loud'");
  await expect(run(['remove', 'c'])).rejects.toThrow('There is no hook c. There are: a.');
  await expect(run(['dance'])).rejects.toMatchObject({ isWrongUse: true });
  expect(Object.keys(listed())).toEqual(['a']);
  writeFileSync(hooksFile(dataDir), '{ "hooks": ');
  await expect(run(['add', 'b'])).rejects.toThrow('is not a list of hooks any more');
  expect(readFileSync(hooksFile(dataDir), 'utf8')).toBe('{ "hooks": ');
  expect(await findings()).toEqual([
    expect.stringMatching(/^problem: .*hooks\.json is not a list/),
  ]);
});
