import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { matrixExamination } from '../../../src/doctor/matrix.ts';
import { setup } from '../../../src/setup/matrix.ts';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { ADA, BOT, settingsOf, startServer, TOKEN } from './fixtures.ts';

test('server and account are tried before anything is written: by password, which is not kept', async () => {
  await using server = await startServer();
  server.passwords.set(BOT, 'right horse');
  await using tower = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1');
  await once(tower, 'listening');
  const { port } = z.object({ port: z.number() }).parse(tower.address());
  const page = `http://127.0.0.1:${port}`;
  const typed = [
    'http://127.0.0.1:1',
    page,
    `https://127.0.0.1:${port}`,
    server.url,
    'nobody',
    'right horse',
    'back',
    'andy',
    'wrong',
    'right horse',
    BOT,
    'ada',
    ADA,
    BOT,
    ADA,
  ];
  const { context, problems, said, written } = ownerAtKeyboard(typed);
  const outcome = await setup.run({}, context);
  expect(problems).toEqual([
    '127.0.0.1:1 cannot be used (no answer).',
    `127.0.0.1:${port} cannot be used (what came back is no answer of Matrix’s).`,
    expect.stringContaining('speaks no TLS; it may be http:// in place of https://'),
    'The homeserver does not know this user name with this password. To change the answer before this one, type back.',
    expect.stringContaining('does not know this user name with this password.'),
    expect.stringContaining('is the account of the assistant'),
    expect.stringContaining('Write your user id'),
    expect.stringContaining('Write your own user id'),
  ]);
  const { MATRIX_TOKEN: token = '', ...others } = written;
  expect(others).toEqual({
    MATRIX_HOMESERVER: server.url,
    MATRIX_ALLOW_FROM: ADA,
    MATRIX_OWNER: ADA,
  });
  expect(server.sessions.get(token)).toMatchObject({ user: BOT });
  expect(said.join('\n')).toContain(`The account is ${BOT}, device NEW`);
  expect(said.join('\n')).toContain('end-to-end encryption work');
  expect(JSON.stringify([outcome, said, written])).not.toContain('right horse');
  expect(setup.currentState(written, '/nowhere/data')).toContain(`${ADA} may write`);
});

test('an access token will do; a wrong one, and an owner who leaves, have nothing written', async () => {
  await using server = await startServer();
  const typed = [server.url, 'no name!', 'token', 'syt_wrong'];
  const { context, problems, written } = ownerAtKeyboard(typed);
  await expect(setup.run({}, context)).rejects.toThrow('left');
  expect(problems).toEqual([
    expect.stringContaining('Write the user name'),
    expect.stringContaining('does not know the token'),
  ]);
  expect(written).toEqual({});
  const right = ownerAtKeyboard([server.url, 'token', TOKEN, ADA, '-']);
  await setup.run({}, right.context);
  expect(right.written['MATRIX_TOKEN']).toBe(TOKEN);
  expect(right.written['MATRIX_OWNER']).toBeUndefined();
});

test('the doctor tries the token, and says what is wrong and what to do', async () => {
  await using server = await startServer();
  const examine = async (env: Record<string, string>, isOffline = false) => {
    const subject = examinedSettings(env, { isOffline });
    const found = await matrixExamination(5_000).examine(subject);
    return found.map(({ message }) => message).join('\n');
  };
  const env = settingsOf(server);
  expect(await examine({})).toBe('no account yet');
  expect(await examine(env)).toBe(`the account is ${BOT}`);
  expect(await examine({ ...env, MATRIX_ENCRYPTION: 'off' }, true)).toContain('encryption is off');
  const wrong = await examine({ ...env, MATRIX_TOKEN: 'no', MATRIX_ALLOW_FROM: '' });
  expect(wrong).toContain('does not know the token');
  expect(wrong).toContain('Nobody is allowed to write');
});
