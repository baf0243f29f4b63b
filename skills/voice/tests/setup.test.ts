import { expect, test } from 'vitest';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { clip, examination, KEY, setup, startVoiceServer, temporaryFolder } from './fixtures.ts';

const CLIP = 'please buy some milk and bread';

test('key and server are tried with a recording before anything is written', async () => {
  await using server = await startVoiceServer();
  server.own.words = CLIP;
  const { context, problems, written, said } = ownerAtKeyboard([
    ...['phone', 'server'],
    ...['nowhere', 'http://127.0.0.1:1/v1'],
    'whisper-1',
    ...['wrong', 'back'],
    ...[server.url, 'whisper-1'],
    ...['wrong', KEY],
    'same',
    'tts-1',
  ]);
  const outcome = await setup.run({ VOICE_COMMAND: 'old {wav}' }, context);
  expect(problems).toEqual([
    'Say server or program.',
    expect.stringContaining('http'),
    expect.stringContaining('type back'),
    expect.stringContaining('refuses the key'),
  ]);
  expect(said).toContain(`It says “${CLIP}”; heard was “${CLIP}”.`);
  expect(server.heard.at(-2)?.file).toEqual(clip());
  expect(written).toMatchObject({ VOICE_URL: server.url, VOICE_KEY: KEY, VOICE_COMMAND: '' });
  expect(outcome).toMatchObject({ data: { hears: 'server', speaks: 'server' } });
  expect(JSON.stringify(outcome)).not.toContain(KEY);
  expect(setup.currentState(written, '/nowhere')).toBe('a server hears, a server speaks');
});

test('programs are tried as well, and one that hears other words is refused', async () => {
  using folder = temporaryFolder();
  const [hears, deaf] = [
    folder.program('hears', `echo ${CLIP}`),
    folder.program('deaf', 'echo nothing like that at all'),
  ];
  const speaks = folder.program('speaks', `cp ${folder.file('sound', clip())} "$1"`);
  const answers = ['program', `${deaf} {file}`, '', `${hears} {file}`];
  const { context, problems, written } = ownerAtKeyboard([
    ...answers,
    'program',
    'gone',
    `${speaks} {ogg}`,
  ]);
  await setup.run({}, context);
  expect(problems).toEqual([
    expect.stringContaining('Those are other words'),
    expect.stringContaining('Type the program'),
    expect.stringContaining('gone is not there'),
  ]);
  expect(written).toMatchObject({
    VOICE_COMMAND: `${hears} {file}`,
    VOICE_SPEECH_COMMAND: `${speaks} {ogg}`,
  });
  const quiet = ownerAtKeyboard(['program', `${hears} {file}`, 'no']);
  expect(await setup.run({}, quiet.context)).toMatchObject({ data: { speaks: null } });
});

test('claw doctor tells a program that is gone, a key that is refused and a server that is away', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const look = async (environment: Readonly<Record<string, string>>, isOffline = false) => {
    const dataDir = folder.dir;
    const subject = { environment, isOffline, dataDir, now: () => 0 };
    const found = await examination.examine(subject as never);
    return found.map(({ ok, message }) => `${ok ? 'ok' : 'no'}: ${message}`);
  };
  expect(await look({})).toEqual(['ok: nothing hears yet']);
  const sh = { VOICE_COMMAND: 'sh -c x', VOICE_SPEECH_COMMAND: '/gone/flite -o {wav}' };
  expect(await look(sh)).toEqual([
    expect.stringMatching(/^ok: the program \/\S+\/sh hears$/),
    'no: the program /gone/flite, which speaks, is not there',
  ]);
  const host = new URL(server.url).host;
  expect(await look({ VOICE_URL: server.url, VOICE_KEY: KEY })).toEqual([
    `ok: whisper-1 at ${host} hears`,
    `ok: tts-1 at ${host} speaks`,
  ]);
  const wrong = { VOICE_URL: server.url, VOICE_KEY: 'wrong' };
  expect(await look(wrong, true)).toEqual([
    expect.stringContaining('was not asked'),
    expect.stringContaining('was not asked'),
  ]);
  expect((await look(wrong))[0]).toBe(`no: ${host}, which hears, refuses the key (error 401)`);
  await server[Symbol.asyncDispose]();
  expect((await look(wrong))[0]).toMatch(/which hears, cannot be reached \([A-Z_]+: .*\)$/);
});
