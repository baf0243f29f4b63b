import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VoiceError } from './failure.ts';
import { runProgram } from './program.ts';

const CONVERT_MS = 30_000;

const TO_WAV = [
  'ffmpeg -nostdin -v error -protocol_whitelist file -i {from} -t {seconds} -vn -ar 16000 -ac 1 -y {to}',
  'opusdec --quiet --rate 16000 --force-wav {from} {to}',
];
const TO_OGG = [
  'opusenc --quiet --bitrate 24 --downmix-mono {from} {to}',
  'ffmpeg -nostdin -v error -protocol_whitelist file -i {from} -vn -ac 1 -c:a libopus -b:a 24k -y {to}',
];

type Conversion = { readonly from: string; readonly to: string; readonly signal: AbortSignal };

/**
 * Makes WAV of 16 kHz, which every recogniser takes, of no more than the seconds that were counted.
 *
 * @throws VoiceError
 */
export function toWav({
  seconds,
  ...conversion
}: Conversion & { readonly seconds: number }): Promise<void> {
  const places = { seconds: String(Math.ceil(seconds) + 1) };
  return convert(TO_WAV, { ...conversion, places }, 'ffmpeg, or opus-tools for Ogg alone');
}

/** Makes Ogg with Opus, which every messenger plays. @throws VoiceError */
export function toOgg(conversion: Conversion): Promise<void> {
  return convert(TO_OGG, conversion, 'opus-tools or ffmpeg');
}

/** Uses the first of some programs that is there. */
async function convert(
  commands: readonly string[],
  {
    from,
    to,
    signal,
    places = {},
  }: Conversion & { readonly places?: Readonly<Record<string, string>> },
  wanted: string,
): Promise<void> {
  for (const command of commands) {
    try {
      await runProgram({ command, places: { from, to, ...places }, limitMs: CONVERT_MS, signal });
      return;
    } catch (error) {
      if (!(error instanceof VoiceError)) throw error;
      if (error.code === 'PROGRAM_MISSING') continue;
      if (error.code === 'TIMEOUT') throw error;
      throw new VoiceError('NO_AUDIO', 'it is no sound that can be read', { cause: error });
    }
  }
  throw new VoiceError('PROGRAM_MISSING', `no program converts sound: install ${wanted}`);
}

/** Gives work a folder of its own, and deletes that after it. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'claw-voice-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
