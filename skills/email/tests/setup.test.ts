import { expect, test } from 'vitest';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { ADA, emailExamination, mail, SIGNER, settingsOf, setup } from './fixtures.ts';
import { MailServer, PASSWORD, USER } from './mail-server.ts';

const examine = (environment: Readonly<Record<string, string>>, isOffline = false) =>
  emailExamination(2_000).examine(examinedSettings(environment, { isOffline }));

test('the account is tried at both servers before anything is written; the name of the checks is found', async () => {
  await using server = await new MailServer().comeUp();
  server.deliver(mail());
  const { EMAIL_IMAP = '', EMAIL_SMTP = '', EMAIL_CA_FILE = '' } = settingsOf(server);
  const closed = ['127.0.0.1:1', 'nowhere.invalid'];
  const servers = [...closed, EMAIL_IMAP, ...closed, EMAIL_SMTP];
  const login = ['nobody', 'wrong', 'back', USER, 'wrong', PASSWORD];
  const answers = ['andy', USER, ...servers, ...login, '', 'ada', ADA];
  const { context, problems, written } = ownerAtKeyboard(answers);
  const outcome = await setup.run({ EMAIL_CA_FILE }, context);
  expect(problems).toEqual([
    expect.stringContaining('mail address'),
    expect.stringContaining('The IMAP server (127.0.0.1:1) cannot be used (ECONNREFUSED: nothing'),
    expect.stringContaining('The IMAP server (nowhere.invalid:993) cannot be used'),
    expect.stringContaining('The SMTP server (127.0.0.1:1) cannot be used (ECONNREFUSED: nothing'),
    expect.stringContaining('The SMTP server (nowhere.invalid:465) cannot be used'),
    expect.stringContaining('type back'),
    expect.stringContaining('refuses user and password'),
    expect.stringContaining('no mail address'),
  ]);
  expect(written).toEqual({
    EMAIL_ADDRESS: USER,
    EMAIL_IMAP,
    EMAIL_SMTP,
    EMAIL_USERNAME: '',
    EMAIL_PASSWORD: PASSWORD,
    EMAIL_AUTHENTICATION: 'required',
    EMAIL_AUTHSERV_ID: SIGNER,
    EMAIL_ALLOW_FROM: ADA,
  });
  expect(JSON.stringify(outcome)).not.toContain(PASSWORD);
  expect(setup.currentState(written, '/nowhere')).toContain(`${USER}, and ${ADA} may write`);
  expect(server.posted).toEqual([]);
});

test('a server whose signer nobody here knows is said at once, and nothing is told to it', async () => {
  await using server = await new MailServer().comeUp();
  const { EMAIL_IMAP = '' } = settingsOf(server);
  const { context, problems, written } = ownerAtKeyboard([USER, EMAIL_IMAP]);
  await expect(setup.run({}, context)).rejects.toThrow('the owner has left');
  expect(problems).toEqual([expect.stringContaining('name that one in EMAIL_CA_FILE')]);
  expect(server.said).toEqual([]);
  expect(written).toEqual({});
});

test('the doctor asks both servers, and says what is wrong', async () => {
  await using server = await new MailServer().comeUp();
  server.deliver(mail());
  const env = settingsOf(server);
  expect(await examine({})).toMatchObject([
    { ok: true, advice: expect.stringContaining('npx claw setup email') },
  ]);
  expect(await examine(env)).toMatchObject([
    { ok: true, message: expect.stringContaining('let us in') },
  ]);
  expect(await examine({ ...env, EMAIL_PASSWORD: 'wrong' })).toMatchObject([
    { ok: false, message: expect.stringContaining('refuses user and password') },
  ]);
  expect(await examine({ ...env, EMAIL_AUTHSERV_ID: 'mx.other.example' })).toMatchObject([
    { ok: true },
    { ok: false, message: expect.stringContaining('would be dropped') },
  ]);
  expect(
    await examine({ ...env, EMAIL_ALLOW_FROM: '', EMAIL_AUTHENTICATION: 'off' }, true),
  ).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
    { ok: false, message: expect.stringContaining('EMAIL_ALLOW_FROM') },
    { ok: true, message: expect.stringContaining('senders are not checked') },
  ]);
});
