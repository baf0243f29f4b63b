import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { jsonWithin } from '../bounded-json.ts';
import { toWav, withFolder } from './audio-files.ts';
import { VoiceError } from './failure.ts';
import { readOpus } from './opus.ts';
import { runProgram } from './program.ts';
import { askServer, type Pause } from './server.ts';
import type { Listening } from './settings.ts';
import { plainWords } from './words.ts';

/** OpenAI takes 25 MB. */
const MAX_BYTES = 25_000_000;
/** The fewest bytes of a second of speech: a note's size tells its length where nothing else does. */
const LEAST_BYTES_A_SECOND = 2_000;
/** More than speech takes in any format: of so many bytes nobody is believed that they play for less. */
const MOST_BYTES_A_SECOND = 64_000;

/** A file that should hold speech. */
export type SoundFile = {
  readonly path: string;
  /** By its content. */
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Playing time as its sender says. */
  readonly seconds: number | null;
};

export type ListenMeans = {
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly pause: Pause;
};

/**
 * Tells how long a file plays, in seconds: its own word counts, where it has one.
 *
 * @throws VoiceError NO_AUDIO
 */
export async function lengthOf({ path, mimeType, sizeBytes, seconds }: SoundFile): Promise<number> {
  if (!/^(audio|video)\//.test(mimeType)) {
    throw new VoiceError('NO_AUDIO', `it holds no sound (it is ${mimeType})`);
  }
  if (sizeBytes > MAX_BYTES) throw tooLarge();
  const claimed = Math.max(
    seconds ?? sizeBytes / LEAST_BYTES_A_SECOND,
    sizeBytes / MOST_BYTES_A_SECOND,
  );
  if (mimeType !== 'audio/ogg') return claimed;
  const bytes = await readFile(path);
  const own = readOpus(bytes);
  if (own !== null) return own.seconds;
  if (bytes.includes('vorbis')) return claimed;
  throw new VoiceError('NO_AUDIO', 'the file is damaged, or no sound');
}

/**
 * Hears a file and returns its words.
 *
 * @param seconds its length
 * @throws VoiceError
 */
export async function listen(
  by: Listening,
  { path, seconds }: { readonly path: string; readonly seconds: number },
  means: ListenMeans,
): Promise<string> {
  const printed =
    by.kind === 'program'
      ? await byProgram(by.command, { path, seconds }, means)
      : await byServer(by, path, means);
  return plainWords(printed, seconds);
}

async function byProgram(
  command: string,
  { path, seconds }: { readonly path: string; readonly seconds: number },
  means: ListenMeans,
): Promise<string> {
  return await withFolder(async (folder) => {
    const wav = join(folder, 'note.wav');
    if (command.includes('{wav}')) {
      await toWav({ from: path, to: wav, seconds, signal: means.signal });
    }
    const printed = await runProgram({ command, places: { file: path, wav }, ...means });
    return printed.toString('utf8');
  });
}

const Answer = z.object({ text: z.string() });

async function byServer(
  server: Extract<Listening, { kind: 'server' }>,
  path: string,
  means: ListenMeans,
): Promise<string> {
  const sound = new Blob([await readFile(path)]);
  const answer = await askServer(server, {
    ...means,
    path: '/audio/transcriptions',
    maxBytes: 1_000_000,
    body() {
      const form = new FormData();
      form.set('file', sound, basename(path));
      form.set('model', server.model);
      form.set('response_format', 'json');
      if (server.language !== null) form.set('language', server.language);
      return form;
    },
  });
  const { data } = Answer.safeParse(jsonWithin(answer));
  if (data === undefined)
    throw new VoiceError('GARBAGE', 'the server’s answer is not a transcript');
  return data.text;
}

function tooLarge(): VoiceError {
  return new VoiceError('TOO_LONG', `the file is larger than ${MAX_BYTES / 1_000_000} MB`);
}
