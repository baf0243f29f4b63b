import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { FetchedAttachment } from '../../../src/channels/channel.ts';
import { context, message } from '../../../src/testing/turn/filters.ts';
import {
  askServer,
  clip,
  filter,
  KEY,
  notedPauses,
  plainWords,
  runProgram,
  startVoiceServer,
  temporaryFolder,
  usedToday,
} from './fixtures.ts';

const NOTE = {
  kind: 'voice',
  mimeType: 'audio/ogg',
  sizeBytes: 3_975,
  name: null,
  seconds: 2,
} as const;

/** The filter by its settings, in a folder of its own. */
function hearing(env: Readonly<Record<string, string>>, dataDir: string) {
  const opened = filter.open(env, { ...context, dataDir, openDatabase: () => ({}) as never });
  if (opened.kind === 'wrong-settings') throw new Error(JSON.stringify(opened.wrong));
  return async (
    bytes: Buffer,
    {
      mimeType = 'audio/ogg',
      text = '',
      ...over
    }: { mimeType?: string; text?: string; seconds?: number } = {},
    pay: (microUsd: number) => boolean = () => true,
  ) => {
    const path = join(dataDir, 'note.ogg');
    const fetchAttachment = async (): Promise<FetchedAttachment> => {
      writeFileSync(path, bytes);
      return { path, mimeType, sizeBytes: bytes.length, name: null };
    };
    const call = { fetchAttachment, pay, signal: new AbortController().signal };
    return await opened.value?.({ ...message, text, attachments: [{ ...NOTE, ...over }] }, call);
  };
}

const replyOf = (result: unknown) => (result as { reply?: string } | undefined)?.reply;

test('a voice note becomes its words, marked as spoken, by a server that has the key and the model', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const settings = {
    VOICE_URL: `${server.url}/`,
    VOICE_KEY: KEY,
    VOICE_LANGUAGE: 'en',
    VOICE_DOLLARS_A_MINUTE: '0.6',
  };
  const hear = hearing(settings, folder.dir);
  expect(await hear(clip(), { text: 'Look:' })).toEqual({
    kind: 'change',
    text: 'Look:\nwhat is the weather like',
    note: expect.stringMatching(/^spoken in a voice note/),
  });
  const [asked] = server.heard;
  expect(asked).toMatchObject({
    path: '/v1/audio/transcriptions',
    fields: { model: 'whisper-1', language: 'en', response_format: 'json' },
  });
  expect(asked?.file).toEqual(clip());
  const used = usedToday({ dataDir: folder.dir, now: context.now });
  expect(statSync(join(folder.dir, 'voice/day.json')).mode & 0o077).toBe(0);
  expect(used.seconds).toBeGreaterThan(1.5);
  expect(used.microDollars).toBe(Math.ceil(600_000 * (used.seconds / 60)));
  // Other files are none of its business.
  const other = { ...message, attachments: [{ ...NOTE, kind: 'audio' as const }] };
  const opened = filter.open(settings, { ...context, openDatabase: () => ({}) as never });
  if (opened.kind === 'wrong-settings') throw new Error('wrong');
  expect(opened.value?.(other, {} as never)).toEqual({ kind: 'pass' });
});

test('what cannot be heard is told in the chat: silence, no sound, too long, a server that refuses or talks rubbish', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const hear = hearing(
    { VOICE_URL: server.url, VOICE_KEY: KEY, VOICE_NOTE_SECONDS: '60' },
    folder.dir,
  );
  const told = async (...given: Parameters<typeof hear>) => replyOf(await hear(...given));
  expect(await told(clip(), { seconds: 3_600 })).toBe(
    'I could not listen to this voice note: it is 60 minutes long, and I listen to 60 seconds at most. It is kept; please say it again, or write it.',
  );
  expect(await told(Buffer.from('PK'), { mimeType: 'application/zip' })).toContain(
    'holds no sound',
  );
  expect(await told(Buffer.from('OggS and then nothing'))).toContain('damaged, or no sound');
  expect(await told(clip().subarray(0, 40))).toContain('damaged, or no sound');
  // It says two seconds, and lasts an hour: the last page tells.
  const liar = clip();
  liar.writeBigInt64LE(3_600n * 48_000n, liar.lastIndexOf('OggS') + 6);
  expect(await told(liar)).toContain('60 minutes long');
  expect(server.heard).toEqual([]);
  server.own.words = ' [BLANK_AUDIO] ';
  expect(await told(clip())).toContain('no words can be heard');
  for (const [fault, words] of [
    [{ status: 401 }, 'refuses the key (error 401); `npx claw setup voice`'],
    [{ status: 404 }, 'is there a model whisper-1?'],
    [{ status: 413 }, 'too large for'],
    [{ status: 429, body: '{"error":{"code":"insufficient_quota"}}' }, 'no credit left'],
    [{ status: 429, headers: { 'retry-after': '3600' } }, 'is busy or broken just now (error 429)'],
    [{ status: 200, body: '<html>' }, 'is not a transcript'],
    [{ status: 200, body: '{"text":7}' }, 'is not a transcript'],
    [
      { status: 200, body: JSON.stringify({ text: 'word '.repeat(900) }) },
      'so it is not a transcript',
    ],
  ] as const) {
    server.faults.push(fault);
    const reply = await told(clip());
    expect(reply).toContain(words);
    expect(reply).not.toContain(KEY);
  }
  server.own.words = 'hello';
  // With words beside it, it is a message that the agent answers.
  server.faults.push({ status: 401 });
  const captioned = await hear(clip(), { text: 'see' });
  expect(captioned).toMatchObject({
    kind: 'change',
    note: expect.stringContaining('not understood'),
  });
  expect(replyOf(captioned)).toBeUndefined();
  // A 429 that asks for no wait is tried again.
  server.faults.push({ status: 429, headers: { 'retry-after': '0' } });
  expect(await hear(clip())).toMatchObject({ text: 'hello' });
});

test('a note that says that it is short, and is not, is not believed', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const env = { VOICE_URL: server.url, VOICE_KEY: KEY, VOICE_NOTE_SECONDS: '60' };
  const hear = hearing(env, folder.dir);
  // Fifty recordings in one file: the last page has the time of one of them.
  const many = Buffer.concat(Array.from({ length: 50 }, () => clip()));
  expect(replyOf(await hear(many))).toContain('103 seconds long');
  // The last pages say that nothing plays.
  const zeroed = Buffer.from(many);
  for (let at = zeroed.indexOf('OggS'); at >= 0; at = zeroed.indexOf('OggS', at + 4)) {
    zeroed.writeBigInt64LE(0n, at + 6);
  }
  expect(replyOf(await hear(zeroed))).toContain('103 seconds long');
  // Another format has no time that is read here: its size speaks.
  const large = Buffer.alloc(8_000_000);
  expect(replyOf(await hear(large, { mimeType: 'audio/mpeg', seconds: 1 }))).toContain(
    '3 minutes long',
  );
  expect(server.heard).toEqual([]);
});

test('a busy server is asked again after the pause that it names, or one of ours; a silent one is given up', async () => {
  await using server = await startVoiceServer();
  const { pauses, pause } = notedPauses();
  const by = { kind: 'server', url: server.url, key: KEY, model: 'm' } as const;
  const ask = (limitMs = 60_000) =>
    askServer(by, {
      path: '/models',
      body: () => '{}',
      maxBytes: 1_000,
      limitMs,
      signal: new AbortController().signal,
      pause,
    });
  server.faults.push({ status: 429, headers: { 'retry-after': '7' } }, { status: 503 });
  expect(String(await ask())).toBe('{"data":[]}');
  expect(pauses).toEqual([7_000, 1_000]);
  server.faults.push({ status: 500 }, { status: 500 }, { status: 500 });
  await expect(ask()).rejects.toMatchObject({ code: 'BUSY' });
  server.faults.push({ status: 200, isSilent: true });
  await expect(ask(50)).rejects.toMatchObject({ code: 'TIMEOUT' });
  server.faults.push({ status: 200, body: 'x'.repeat(1_001) });
  await expect(ask()).rejects.toMatchObject({ code: 'GARBAGE' });
  const gone = { ...by, url: 'http://127.0.0.1:1/v1' };
  const signal = new AbortController().signal;
  const request = { path: '/x', body: () => '{}', maxBytes: 9, limitMs: 60_000, signal, pause };
  await expect(askServer(gone, request)).rejects.toMatchObject({ code: 'UNREACHABLE' });
});

test('a program hears: its marks are taken out, and what hangs, fails or is not there is told', async () => {
  using folder = temporaryFolder();
  const hear = (command: string, env = {}) =>
    hearing({ VOICE_COMMAND: command, ...env }, folder.dir)(clip());
  const says = folder.program(
    'says',
    `cmp -s "$1" ${folder.file('same', clip())} && [ -z "$VOICE_KEY" ] && printf '[00:00:00.000 --> 00:00:02.000]  \\033[1mbuy\\033[0m milk\\n<sil> and bread'`,
  );
  expect(await hear(`${says} "{file}"`, { VOICE_KEY: KEY })).toMatchObject({
    text: 'buy milk and bread',
  });
  const hangs = { places: {}, limitMs: 30, signal: new AbortController().signal };
  await expect(runProgram({ ...hangs, command: 'sleep 600' })).rejects.toThrow('took longer than');
  const fails = folder.program('fails', 'echo "model not found" >&2; exit 3');
  expect(replyOf(await hear(fails))).toContain('ended with code 3 (model not found)');
  expect(replyOf(await hear(folder.program('noise', 'head -c 200 /dev/urandom')))).toMatch(
    /is not text|no words|no transcript/,
  );
  expect(replyOf(await hear(folder.program('flood', 'yes word')))).toContain(
    'more than a megabyte',
  );
  expect(replyOf(await hear(folder.program('mute', 'exit 0')))).toContain('no words can be heard');
  expect(replyOf(await hear('no-such-program {file}'))).toContain('no-such-program is not there');
});

test('a program that is given up is gone with all that it has started', async () => {
  using folder = temporaryFolder();
  const left = join(folder.dir, 'pid');
  const command = folder.program(
    'hangs',
    `sleep 600 & echo $! > ${left}.new; mv ${left}.new ${left}; wait`,
  );
  const giveUp = new AbortController();
  const { signal } = giveUp;
  const run = runProgram({ command, places: {}, limitMs: 600_000, signal }).catch(String);
  await vi.waitFor(() => expect(existsSync(left)).toBe(true));
  giveUp.abort();
  expect(await run).toContain('was stopped');
  const isRunning = () => {
    try {
      // A dead process may wait for somebody to collect it.
      return !readFileSync(`/proc/${readFileSync(left, 'utf8').trim()}/stat`, 'utf8').includes(
        ') Z',
      );
    } catch {
      return false;
    }
  };
  await vi.waitFor(() => expect(isRunning()).toBe(false));
});

test('a program that leaves something behind, which holds its output open, has ended', async () => {
  using folder = temporaryFolder();
  const command = folder.program('daemon', 'sleep 600 & echo hello');
  const { signal } = new AbortController();
  expect(String(await runProgram({ command, places: {}, limitMs: 300_000, signal }))).toBe(
    'hello\n',
  );
});

test('several notes are heard at once by a server, and one after the other by a program', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const byServer = hearing({ VOICE_URL: server.url, VOICE_KEY: KEY }, folder.dir);
  expect(await Promise.all([1, 2, 3, 4, 5, 6].map(() => byServer(clip())))).toHaveLength(6);
  expect(server.heard).toHaveLength(6);
  const busy = join(folder.dir, 'busy');
  const one = folder.program('one', `mkdir ${busy} || exit 4; sleep 0.02; rmdir ${busy}; echo yes`);
  const byProgram = hearing({ VOICE_COMMAND: one }, folder.dir);
  const words = await Promise.all([1, 2, 3].map(() => byProgram(clip())));
  expect(words).toMatchObject([{ text: 'yes' }, { text: 'yes' }, { text: 'yes' }]);
});

test('the minutes and the dollars of a day end the hearing until the next one', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const env = { VOICE_URL: server.url, VOICE_KEY: KEY };
  const few = hearing({ ...env, VOICE_MINUTES_A_DAY: '0' }, folder.dir);
  expect(replyOf(await few(clip()))).toContain('0 minutes of voice are used up');
  const dear = { ...env, VOICE_DOLLARS_A_MINUTE: '20', VOICE_DOLLARS_A_DAY: '1' };
  const hear = hearing(dear, folder.dir);
  expect(await hear(clip())).toMatchObject({ text: expect.any(String) });
  expect(replyOf(await hear(clip()))).toContain('$1 for voice are used up');
  expect(server.heard).toHaveLength(1);
  const tomorrow = usedToday({ dataDir: folder.dir, now: () => context.now() + 86_400_000 });
  expect(tomorrow.seconds).toBe(0);
});

test('what is heard is charged to the group, and not heard where its budget is used up', async () => {
  await using server = await startVoiceServer();
  using folder = temporaryFolder();
  const env = { VOICE_URL: server.url, VOICE_KEY: KEY, VOICE_DOLLARS_A_MINUTE: '0.6' };
  const hear = hearing(env, folder.dir);
  const used = () => usedToday({ dataDir: folder.dir, now: context.now }).microDollars;
  const paid: number[] = [];
  const pay = (hasRoom: boolean) => (microUsd: number) => {
    paid.push(microUsd);
    return hasRoom;
  };
  expect(replyOf(await hear(clip(), {}, pay(false)))).toContain('the budget for today is used up');
  expect([server.heard.length, used()]).toEqual([0, 0]);
  expect(await hear(clip(), {}, pay(true))).toMatchObject({ text: server.own.words });
  expect(paid).toEqual([used(), used()]);
  // The limits of voice itself end it before anything is charged.
  const few = hearing({ ...env, VOICE_MINUTES_A_DAY: '0' }, folder.dir);
  expect(replyOf(await few(clip(), {}, pay(true)))).toContain('VOICE_MINUTES_A_DAY');
  expect(paid).toHaveLength(2);
});

test('of what a recogniser prints only words are left', () => {
  expect(plainWords('(music) Hi   there\r\n', 2)).toBe('Hi there');
  expect(plainWords('I said (quietly) no.', 2)).toBe('I said (quietly) no.');
  expect(() => plainWords('<sil> … ', 2)).toThrow('no words');
  expect(() => plainWords('a\u{FFFD}b\u{FFFD}', 2)).toThrow('is not text');
});
