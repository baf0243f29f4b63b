import type { z } from 'zod';
import { parseWhatFits } from '../../lib/settings.ts';
import { isSpokenIn } from '../../lib/voice/chats.ts';
import { book } from '../../lib/voice/day-book.ts';
import { VoiceError } from '../../lib/voice/failure.ts';
import type { Recording } from '../../lib/voice/opus.ts';
import {
  microDollarsSpoken,
  speakingBy,
  VoiceEnvironment,
  type VoiceTexts,
} from '../../lib/voice/settings.ts';
import { speak } from '../../lib/voice/speak.ts';
import type { ChannelContext, OutboundMessage } from '../channel.ts';
import { speakable } from './speakable.ts';

/** The host waits a minute for a send, and the text of the answer is part of it. */
const SPEAK_MS = 40_000;
const KEPT_RECORDINGS = 10;
/** To count what a recording will last before it is made. */
const CHARACTERS_A_SECOND = 15;

/** The voice of an answer: a recording, a line on why there is none, or nothing to add. */
export type Spoken =
  | { readonly kind: 'recording'; readonly recording: Recording }
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'nothing' };

/** Says answers aloud in the chats where the owner wants that. */
export interface SpokenAnswers {
  /** Tells whether a message is to be heard as well as read. */
  isWanted(message: OutboundMessage): boolean;
  /** Makes the recording; the same one for a message that is sent again. Rejects at the abort alone. */
  make(message: OutboundMessage, signal: AbortSignal): Promise<Spoken>;
}

/** A channel that speaks no answers. */
export const SILENT: SpokenAnswers = {
  isWanted: () => false,
  make: async () => ({ kind: 'nothing' }),
};

/** Opens the voice of a channel, by its settings as texts: what is wrong there is left out. */
export function openSpokenAnswers(
  texts: z.output<typeof VoiceTexts>,
  { dataDir, log, clock }: Pick<ChannelContext, 'dataDir' | 'log' | 'clock'>,
): SpokenAnswers {
  const settings = parseWhatFits(VoiceEnvironment, texts).values;
  const by = speakingBy(settings);
  if (by === null) return SILENT;
  const recordings = new Map<string, Recording>();
  /** By chat, the line that was said last: it is not repeated with each answer. */
  const told = new Map<string, string>();

  async function recorded(
    { id, text, pay }: OutboundMessage,
    signal: AbortSignal,
  ): Promise<Recording | null> {
    const known = recordings.get(id);
    if (known !== undefined) return known;
    const said = speakable(text, settings.VOICE_ANSWER_CHARACTERS);
    if (said === '') return null;
    const microDollars = microDollarsSpoken(settings, said.length);
    book({ dataDir, now: clock.now }, settings, {
      seconds: said.length / CHARACTERS_A_SECOND,
      microDollars,
      pay() {
        if (pay?.({ name: 'voice', microUsd: microDollars }) !== false) return;
        throw new VoiceError('DAY_IS_USED_UP', 'the budget for today is used up');
      },
    });
    const recording = await speak(by as NonNullable<typeof by>, said, {
      limitMs: SPEAK_MS,
      signal,
      pause: clock.pause,
    });
    const [oldest] = recordings.keys();
    if (recordings.size >= KEPT_RECORDINGS && oldest !== undefined) recordings.delete(oldest);
    recordings.set(id, recording);
    return recording;
  }

  return {
    isWanted: ({ jid, isAgents, reactsTo }) =>
      isAgents === true && reactsTo === undefined && isSpokenIn(dataDir, jid),
    async make(message, signal) {
      try {
        const recording = await recorded(message, signal);
        if (recording === null) return { kind: 'nothing' };
        told.delete(message.jid);
        return { kind: 'recording', recording };
      } catch (error) {
        // The message is sent again by the next process, which goes on after its text.
        if (signal.aborted) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        log.warn('an answer is not spoken', { reason, code: (error as VoiceError).code });
        const text = `(Not spoken: ${error instanceof VoiceError ? reason : 'something broke, see the log'}.)`;
        if (told.get(message.jid) === text) return { kind: 'nothing' };
        told.set(message.jid, text);
        return { kind: 'line', text };
      }
    },
  };
}
