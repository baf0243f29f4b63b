import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OutboundMessage } from '../../../src/channels/channel.ts';
import {
  clip,
  KEY,
  notedPauses,
  openSpokenAnswers,
  readOpus,
  setSpoken,
  speak,
  speakable,
  startVoiceServer,
  temporaryFolder,
} from './fixtures.ts';

const ANSWER: OutboundMessage = {
  id: 'a1',
  jid: 'chat:family',
  text: 'It is **fine**.',
  isAgents: true,
};
const never = new AbortController().signal;

/** The voice of a channel in a chat where it is on. */
function voiceIn(dataDir: string, env: Readonly<Record<string, string>>) {
  const log = { info() {}, warn() {} };
  const clock = { now: () => 0, random: () => 0, pause: notedPauses().pause };
  setSpoken(dataDir, { jid: ANSWER.jid, folder: 'family' }, true);
  return openSpokenAnswers(env, { dataDir, log, clock });
}

test('what is read aloud has no marks, code, addresses or pictures, and ends with a sentence', () => {
  const markdown =
    '# Plan\n\n- **Buy** [milk](https://a.b/c) 🥛\n- see https://x.y\n\n```sh\nrm -rf /\n```\nDone.';
  expect(speakable(markdown, 1_000)).toBe('Plan.\nBuy milk\nsee\nDone.');
  expect(speakable('One is short. Two is a little longer. Three.', 40)).toBe(
    'One is short. Two is a little longer.',
  );
  expect(speakable(`${'word '.repeat(30)}`, 22)).toBe('word word word word');
  expect(speakable('```\ncode\n```\n🎉', 100)).toBe('');
});

test('an answer is spoken by a server, once for a message that is sent again, and only an agent’s where it is on', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const env = { VOICE_URL: server.url, VOICE_KEY: KEY, VOICE_SPEECH_VOICE: 'nova' };
  const voice = voiceIn(folder.dir, env);
  expect(voice.isWanted(ANSWER)).toBe(true);
  const { isAgents: _, ...command } = ANSWER;
  expect(voice.isWanted(command)).toBe(false);
  expect(voice.isWanted({ ...ANSWER, jid: 'chat:other' })).toBe(false);
  const made = await voice.make(ANSWER, never);
  expect(made).toMatchObject({ kind: 'recording', recording: { bytes: clip() } });
  expect(await voice.make(ANSWER, never)).toEqual(made);
  expect(server.heard.map(({ path, fields }) => ({ path, ...fields }))).toEqual([
    {
      path: '/v1/audio/speech',
      model: 'tts-1',
      voice: 'nova',
      input: 'It is fine.',
      response_format: 'opus',
    },
  ]);
  expect(await voice.make({ ...ANSWER, id: 'a2', text: '```\nx\n```' }, never)).toEqual({
    kind: 'nothing',
  });
  setSpoken(folder.dir, { jid: ANSWER.jid, folder: 'family' }, false);
  expect(voice.isWanted(ANSWER)).toBe(false);
});

test('why an answer is not spoken is a line in the chat, said once until it works again', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const voice = voiceIn(folder.dir, { VOICE_URL: server.url, VOICE_KEY: KEY });
  const make = (id: string) => voice.make({ ...ANSWER, id }, never);
  server.faults.push({ status: 401 }, { status: 401 });
  expect(await make('1')).toEqual({
    kind: 'line',
    text: expect.stringMatching(/^\(Not spoken: .*refuses the key/),
  });
  expect(await make('2')).toEqual({ kind: 'nothing' });
  expect(await make('3')).toMatchObject({ kind: 'recording' });
  server.faults.push({ status: 200, body: 'ID3 no opus' }, { status: 401 });
  expect(await make('4')).toMatchObject({
    kind: 'line',
    text: expect.stringContaining('no speech in Ogg'),
  });
  expect(await make('5')).toMatchObject({ kind: 'line', text: expect.stringContaining('refuses') });
  // At the end of the assistant nothing is said instead: the next process goes on with the message.
  await expect(voice.make({ ...ANSWER, id: '8' }, AbortSignal.abort())).rejects.toThrow('stopped');
  // A key is for the server that it was set for.
  const other = voiceIn(folder.dir, { VOICE_KEY: KEY, VOICE_SPEECH_URL: server.url });
  await other.make({ ...ANSWER, id: '6' }, never);
  expect(server.heard.at(-1)?.headers.authorization).toBeUndefined();
  // Nothing is set, or what is set is wrong: the channel works without a voice.
  expect(voiceIn(folder.dir, {}).isWanted(ANSWER)).toBe(false);
  expect(voiceIn(folder.dir, { VOICE_URL: 'nowhere' }).isWanted(ANSWER)).toBe(false);
  const used = voiceIn(folder.dir, {
    VOICE_URL: server.url,
    VOICE_KEY: KEY,
    VOICE_MINUTES_A_DAY: '0',
  });
  expect(await used.make({ ...ANSWER, id: '7' }, never)).toMatchObject({
    text: expect.stringContaining('minutes of voice are used up'),
  });
});

test('what is spoken is charged to the group, and is text alone where its budget is used up', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const voice = voiceIn(folder.dir, {
    VOICE_URL: server.url,
    VOICE_KEY: KEY,
    VOICE_SPEECH_DOLLARS: '100',
  });
  const paid: { readonly name: string; readonly microUsd: number }[] = [];
  let hasRoom = false;
  const pay: OutboundMessage['pay'] = (work) => {
    paid.push(work);
    return hasRoom;
  };
  const make = (id: string) => voice.make({ ...ANSWER, id, text: 'Yes.', pay }, never);
  expect(await make('1')).toMatchObject({
    kind: 'line',
    text: expect.stringContaining('the budget for today is used up'),
  });
  expect(await make('2')).toEqual({ kind: 'nothing' });
  expect(server.heard).toEqual([]);
  hasRoom = true;
  expect(await make('3')).toMatchObject({ kind: 'recording' });
  // The same message, sent again, is spoken and paid for once.
  expect(await make('3')).toMatchObject({ kind: 'recording' });
  const work = { name: 'voice', microUsd: 400_000 };
  expect(paid).toEqual([work, work, work]);
});

test('a program speaks: it gets the text and writes the recording, or what is wrong is told', async () => {
  using folder = temporaryFolder();
  const say = (command: string) =>
    speak({ kind: 'program', command }, 'It’s fine.', {
      limitMs: 30_000,
      signal: never,
      pause: notedPauses().pause,
    });
  const sound = folder.file('sound', clip());
  const got = join(folder.dir, 'got');
  const speaks = folder.program('speaks', `cat > ${got}; cat "$1" >> ${got}; cp ${sound} "$2"`);
  const recording = await say(`${speaks} {txt} {ogg}`);
  expect(recording).toEqual(readOpus(clip()));
  expect(recording.seconds).toBeGreaterThan(1.5);
  expect(recording.waveform).toHaveLength(64);
  expect(new Set(recording.waveform).size).toBeGreaterThan(5);
  expect(readFileSync(got, 'utf8')).toBe('It’s fine.It’s fine.');
  await expect(say(`${folder.program('lazy', 'exit 0')} {ogg}`)).rejects.toThrow(
    'written no sound',
  );
  await expect(say(`${folder.program('rubbish', 'echo x > "$1"')} {ogg}`)).rejects.toThrow(
    'no speech in Ogg with Opus',
  );
  await expect(say(`${folder.program('broken', 'exit 9')} {ogg}`)).rejects.toThrow('code 9');
});
