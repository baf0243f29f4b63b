import { z } from 'zod';
import { Address, anyNumber, wholeNumber } from '../setting-values.ts';

const OPENAI = 'https://api.openai.com/v1';

/** Prices of OpenAI's own models, in dollars: a minute that is heard, a thousand characters that are spoken. */
const HEARD_DOLLARS = 0.006;
const SPOKEN_DOLLARS = 0.015;

/** The settings of voice, by their names in `.env`. */
export const VoiceEnvironment = z.object({
  VOICE_COMMAND: z.string().optional(),
  VOICE_URL: Address.optional(),
  VOICE_KEY: z.string().optional(),
  VOICE_MODEL: z.string().default('whisper-1'),
  VOICE_LANGUAGE: z
    .string()
    .regex(/^[a-z]{2,3}$/, 'must be a code of two letters, such as en or de')
    .optional(),
  VOICE_SPEECH_COMMAND: z.string().optional(),
  VOICE_SPEECH_URL: Address.optional(),
  VOICE_SPEECH_KEY: z.string().optional(),
  VOICE_SPEECH_MODEL: z.string().default('tts-1'),
  VOICE_SPEECH_VOICE: z.string().default('alloy'),
  VOICE_NOTE_SECONDS: wholeNumber(1, 7_200).default(300),
  VOICE_WAIT_SECONDS: wholeNumber(1, 240).default(120),
  VOICE_ANSWER_CHARACTERS: wholeNumber(20, 4_000).default(1_500),
  VOICE_MINUTES_A_DAY: wholeNumber(0, 1_440).default(120),
  VOICE_DOLLARS_A_DAY: anyNumber(0, 10_000).default(1),
  VOICE_DOLLARS_A_MINUTE: anyNumber(0, 100).optional(),
  VOICE_SPEECH_DOLLARS: anyNumber(0, 100).optional(),
});

export type VoiceSettings = z.output<typeof VoiceEnvironment>;

type Names = keyof typeof VoiceEnvironment.shape;

/** The same settings as texts, for a channel: one that is wrong must not silence the channel. */
export const VoiceTexts = z.object(
  Object.fromEntries(
    Object.keys(VoiceEnvironment.shape).map((name) => [name, z.string().optional()]),
  ) as Record<Names, z.ZodOptional<z.ZodString>>,
);

/** A server that speaks OpenAI's protocol; the address ends before `/audio`. */
export type VoiceServer = {
  readonly kind: 'server';
  readonly url: string;
  readonly key: string | null;
  readonly model: string;
};

/** A program of the owner's, as they would type it, with places for files in braces. */
export type VoiceProgram = { readonly kind: 'program'; readonly command: string };

export type Listening = VoiceProgram | (VoiceServer & { readonly language: string | null });
export type Speaking = VoiceProgram | (VoiceServer & { readonly voice: string });

/** Tells by what voice notes are heard; null where nothing is set. A program goes before a server. */
export function listeningBy(settings: VoiceSettings): Listening | null {
  const { VOICE_COMMAND: command, VOICE_URL: address, VOICE_KEY: key = null } = settings;
  if (command !== undefined) return { kind: 'program', command };
  if (address === undefined && key === null) return null;
  const url = plainAddress(address ?? OPENAI);
  const { VOICE_MODEL: model, VOICE_LANGUAGE: language = null } = settings;
  return { kind: 'server', url, key, model, language };
}

/** Tells by what answers are spoken: its own settings, or the server that hears. Null where nothing is set. */
export function speakingBy(settings: VoiceSettings): Speaking | null {
  const { VOICE_SPEECH_COMMAND: command } = settings;
  if (command !== undefined) return { kind: 'program', command };
  const { VOICE_SPEECH_URL: own, VOICE_SPEECH_KEY: ownKey } = settings;
  const hasOwn = own !== undefined || ownKey !== undefined;
  const address = hasOwn ? (own ?? OPENAI) : settings.VOICE_URL;
  // A key is never sent to another server than the one it was set for.
  const key = (hasOwn ? ownKey : settings.VOICE_KEY) ?? null;
  if (address === undefined && key === null) return null;
  const { VOICE_SPEECH_MODEL: model, VOICE_SPEECH_VOICE: voice } = settings;
  return { kind: 'server', url: plainAddress(address ?? OPENAI), key, model, voice };
}

/** The price of a minute that is heard, in millionths of a dollar. Only OpenAI's own is known without a setting. */
export function microDollarsHeard(settings: VoiceSettings, seconds: number): number {
  const by = listeningBy(settings);
  const known = by?.kind === 'server' && by.url === OPENAI ? HEARD_DOLLARS : 0;
  return Math.ceil((settings.VOICE_DOLLARS_A_MINUTE ?? known) * 1_000_000 * (seconds / 60));
}

/** The price of text that is spoken, in millionths of a dollar. */
export function microDollarsSpoken(settings: VoiceSettings, characters: number): number {
  const by = speakingBy(settings);
  const known = by?.kind === 'server' && by.url === OPENAI ? SPOKEN_DOLLARS : 0;
  return Math.ceil((settings.VOICE_SPEECH_DOLLARS ?? known) * 1_000_000 * (characters / 1_000));
}

function plainAddress(address: string): string {
  return address.replace(/\/+$/, '');
}
