import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toOgg, withFolder } from './audio-files.ts';
import { VoiceError } from './failure.ts';
import { type Recording, readOpus } from './opus.ts';
import { runProgram } from './program.ts';
import { askServer, type Pause } from './server.ts';
import type { Speaking } from './settings.ts';

const MAX_BYTES = 20_000_000;
/** A word takes longer. */
const LEAST_SECONDS = 0.1;

export type SpeakMeans = {
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly pause: Pause;
};

/** Says a text, as Ogg with Opus. @throws VoiceError */
export async function speak(by: Speaking, text: string, means: SpeakMeans): Promise<Recording> {
  return await withFolder(async (folder) => {
    const made =
      by.kind === 'program'
        ? await byProgram(by.command, { text, folder }, means)
        : await byServer(by, { text, folder }, means);
    const recording = readOpus(made);
    if (recording !== null && recording.seconds >= LEAST_SECONDS) return recording;
    throw new VoiceError('GARBAGE', 'what came back is no speech in Ogg with Opus');
  });
}

type Saying = { readonly text: string; readonly folder: string };

/** The program reads the text from its input or the file `{txt}`, and writes the file `{ogg}` or `{wav}`. */
async function byProgram(
  command: string,
  { text, folder }: Saying,
  means: SpeakMeans,
): Promise<Uint8Array> {
  const [txt, wav, ogg] = [join(folder, 'a.txt'), join(folder, 'a.wav'), join(folder, 'a.ogg')];
  await writeFile(txt, text);
  const printed = await runProgram({ command, places: { txt, wav, ogg }, stdin: text, ...means });
  if (command.includes('{ogg}')) return await written(ogg);
  // Without a place for a file it prints the sound.
  if (!command.includes('{wav}')) await writeFile(wav, printed);
  else await written(wav);
  return await asOgg({ wav, ogg }, means.signal);
}

async function byServer(
  server: Extract<Speaking, { kind: 'server' }>,
  { text, folder }: Saying,
  means: SpeakMeans,
): Promise<Uint8Array> {
  const { model, voice } = server;
  const answer = await askServer(server, {
    ...means,
    path: '/audio/speech',
    maxBytes: MAX_BYTES,
    body: () => JSON.stringify({ model, voice, input: text, response_format: 'opus' }),
  });
  // Small servers make WAV, whatever they are asked for.
  if (answer.toString('latin1', 0, 4) !== 'RIFF') return answer;
  const [wav, ogg] = [join(folder, 'a.wav'), join(folder, 'a.ogg')];
  await writeFile(wav, answer);
  return await asOgg({ wav, ogg }, means.signal);
}

async function asOgg(
  { wav, ogg }: { readonly wav: string; readonly ogg: string },
  signal: AbortSignal,
): Promise<Uint8Array> {
  await toOgg({ from: wav, to: ogg, signal });
  return await written(ogg);
}

async function written(path: string): Promise<Uint8Array> {
  try {
    const bytes = await readFile(path);
    if (bytes.length > 0 && bytes.length <= MAX_BYTES) return bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  throw new VoiceError('GARBAGE', 'the program has written no sound');
}
