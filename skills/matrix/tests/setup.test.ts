import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readSettings } from '../../../src/config.ts';
import { matrixExamination } from '../../../src/doctor/matrix.ts';
import { setup } from '../../../src/setup/matrix.ts';
import type { SetupContext } from '../../../src/setup/step.ts';
import { ADA, BOT, settingsOf, startServer, TOKEN } from './fixtures.ts';

/** An owner at the keyboard: answers are taken in order, each as often as it takes to find one that fits. */
function owner(env: Record<string, string>, answers: readonly string[]) {
  const left = [...answers];
  const problems: string[] = [];
  const said: string[] = [];
  const written: Record<string, string> = {};
  const context: SetupContext = {
    dataDir: '/nowhere/data',
    args: [],
    isInteractive: true,
    say: (line) => said.push(line),
    async ask({ check }) {
      for (let typed = left.shift(); typed !== undefined; typed = left.shift()) {
        const problem = await check(typed);
        if (problem === null) return typed;
        problems.push(problem);
      }
      throw new Error('the owner has left');
    },
    write: (values) => Object.assign(written, values),
    signal: new AbortController().signal,
  };
  return { env, context, problems, said, written };
}

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
  const { env, context, problems, said, written } = owner({}, typed);
  const outcome = await setup.run(env, context);
  expect(problems).toEqual([
    '127.0.0.1:1 cannot be used (no answer).',
    `127.0.0.1:${port} cannot be used (what came back is no answer of Matrix’s).`,
    expect.stringContaining('speaks no TLS. Is it http:// in place of https://?'),
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
  const { env, context, problems, written } = owner({}, typed);
  await expect(setup.run(env, context)).rejects.toThrow('left');
  expect(problems).toEqual([
    expect.stringContaining('Write the user name'),
    expect.stringContaining('does not know the token'),
  ]);
  expect(written).toEqual({});
  const right = owner({}, [server.url, 'token', TOKEN, ADA, '-']);
  await setup.run(right.env, right.context);
  expect(right.written['MATRIX_TOKEN']).toBe(TOKEN);
  expect(right.written['MATRIX_OWNER']).toBeUndefined();
});

test('the doctor tries the token, and says what is wrong and what to do', async () => {
  await using server = await startServer();
  const examine = async (env: Record<string, string>, isOffline = false) => {
    const environment = { CLAW_SANDBOX: 'podman', ...env };
    const settings = readSettings(environment, '/nowhere');
    const folders = { projectDir: '/nowhere', dataDir: '/nowhere/data', homeDir: '/nowhere' };
    const subject = { ...folders, environment, settings, isOffline, now: Date.now };
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
