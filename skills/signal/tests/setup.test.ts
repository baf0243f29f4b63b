import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { ADA, examination, settingsOf, setup } from './fixtures.ts';
import { SignalCli } from './signal-cli.ts';

/** An owner at the keyboard, with a folder for what the step keeps. */
function owner(answers: readonly string[], args: readonly string[] = []) {
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-signal-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  return ownerAtKeyboard(answers, { args, dataDir });
}

test('an account of signal-cli is taken after signal-cli has said that it has it', async () => {
  await using cli = await new SignalCli().comeUp();
  await using away = await new SignalCli().comeUp();
  await away.goDown();
  const typed = ['localhost', away.url, cli.url, '+4915100', '', '-', '-', 'ada', '+4915111111111'];
  const { context, problems, said, written } = owner(typed);
  const outcome = await setup.run({}, context);
  expect(problems).toEqual([
    expect.stringContaining('begins with http'),
    expect.stringMatching(
      /cannot be reached \(ECONNREFUSED: nothing listens there;.*\).*signal-cli daemon --http/,
    ),
    'signal-cli does not have that one. It has +4915100000000.',
    expect.stringContaining('Write numbers'),
    expect.stringContaining('Write numbers'),
  ]);
  expect(said.join()).toContain(`signal-cli has ${cli.account}`);
  expect(written).toEqual({
    SIGNAL_CLI_URL: cli.url,
    SIGNAL_ACCOUNT: cli.account,
    SIGNAL_ALLOW_FROM: ADA.number,
  });
  expect(outcome.summary).toBe(`signal-cli has ${cli.account}; ${ADA.number} may write to it.`);
  expect(setup.currentState(written, '/nowhere')).toContain(cli.account);
});

test('an owner who is one no more is taken out of .env', async () => {
  await using cli = await new SignalCli().comeUp();
  const { context, written } = owner([cli.url, '', '-', '+4915111111111']);
  const outcome = await setup.run({ SIGNAL_OWNER: '+4915199999999' }, context);
  expect(written).toMatchObject({ SIGNAL_OWNER: '', SIGNAL_ALLOW_FROM: ADA.number });
  expect(outcome.summary).toContain(`${ADA.number} may write`);
  expect(setup.currentState(written, '/nowhere')).not.toContain('+4915199999999');
});

test('an account is linked by a QR code, another one where the first was too late', async () => {
  await using cli = await new SignalCli().comeUp();
  cli.accounts = [];
  cli.linking = ['too late', '+4915155555555'];
  const { context, said, written } = owner([cli.url, '', '']);
  const outcome = await setup.run({}, context);
  expect(said.filter((line) => line.includes('Linked devices') && line.includes('█'))).toHaveLength(
    2,
  );
  expect(said.at(-1)).toBe('Linked with +4915155555555.');
  expect(written).toMatchObject({
    SIGNAL_ACCOUNT: '+4915155555555',
    SIGNAL_OWNER: '+4915155555555',
  });
  expect(outcome.summary).toContain('Note to Self');
  expect(cli.calls.map(({ method }) => method)).toEqual([
    'listAccounts',
    'startLink',
    'finishLink',
    'startLink',
    'finishLink',
  ]);
});

test('nothing is written where nobody scans the code, or where signal-cli runs for one account', async () => {
  await using cli = await new SignalCli().comeUp();
  const { context, written } = owner([cli.url], ['--link']);
  await expect(setup.run({}, context)).rejects.toThrow(
    'No account was linked: Link request timed out',
  );
  cli.isSingle = true;
  const single = owner([cli.url]);
  await expect(setup.run({}, single.context)).rejects.toThrow('left');
  expect(single.problems).toEqual([expect.stringContaining('Start it without -a')]);
  expect({ ...written, ...single.written }).toEqual({});
});

test('the answer to a captcha is handed on', async () => {
  await using cli = await new SignalCli().comeUp();
  const env = settingsOf(cli);
  const args = (captcha: string) => ['--challenge', 'tok-1', '--captcha', captcha];
  const good = await setup.run(env, owner([], args('signalcaptcha://good')).context);
  expect(good.summary).toContain('took the captcha');
  await expect(setup.run(env, owner([], args('old')).context)).rejects.toThrow('Captcha rejected');
  await expect(setup.run(env, owner([], ['--captcha', 'x']).context)).rejects.toThrow(
    'belong together',
  );
});

test('claw doctor says whether signal-cli is there and has the account, and who may write', async () => {
  await using cli = await new SignalCli().comeUp();
  const found = (env: Readonly<Record<string, string>>, isOffline = false) =>
    examination.examine(examinedSettings(env, { isOffline }));
  const env = settingsOf(cli);
  expect(await found({})).toMatchObject([{ ok: true, message: 'no account yet' }]);
  expect(await found(env)).toMatchObject([{ ok: true, message: `signal-cli has ${cli.account}` }]);
  expect(await found({ ...env, SIGNAL_ALLOW_FROM: '' }, true)).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
    { ok: false, message: expect.stringContaining('SIGNAL_ALLOW_FROM') },
  ]);
  cli.accounts = [];
  expect(await found(env)).toMatchObject([
    { ok: false, message: expect.stringContaining('has no account') },
  ]);
  await cli.goDown();
  expect(await found(env)).toMatchObject([
    { ok: false, message: expect.stringContaining('cannot be reached') },
  ]);
});
