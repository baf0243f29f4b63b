import { setTimeout as delay } from 'node:timers/promises';
import {
  defineInboundFilter,
  type FilterCall,
  type FilteredMessage,
  type FilterResult,
} from '../host/contracts/inbound-filter.ts';
import { book } from '../lib/voice/day-book.ts';
import { VoiceError } from '../lib/voice/failure.ts';
import { lengthOf, listen } from '../lib/voice/listen.ts';
import {
  type Listening,
  listeningBy,
  microDollarsHeard,
  VoiceEnvironment,
  type VoiceSettings,
} from '../lib/voice/settings.ts';

const SPOKEN =
  'spoken in a voice note: these are the words as they were recognised, which may be wrong in places';
/** Longer than hearing may take after its turn has come, with all notes that were before it. */
const FILTER_MS = 1_200_000;
const REQUESTS_AT_ONCE = 4;

type Means = {
  readonly by: Listening;
  readonly settings: VoiceSettings;
  readonly dataDir: string;
  readonly now: () => number;
};

/** Voice notes become text, before they are part of their chat. */
export const filter = defineInboundFilter({
  name: 'voice',
  // Before those that look at the text: what was said is looked at as what is written.
  order: 50,
  onFailure: 'pass',
  timeoutMs: FILTER_MS,
  settings: VoiceEnvironment,
  create({ settings, dataDir, now, log }) {
    const by = listeningBy(settings);
    if (by === null) return null;
    const inTurn = atOnce(by.kind === 'program' ? 1 : REQUESTS_AT_ONCE);
    const hear = (message: FilteredMessage, call: FilterCall, seconds: number | null) =>
      inTurn(() => heard({ by, settings, dataDir, now }, call, seconds)).then(
        (words): FilterResult => ({
          kind: 'change',
          text: [message.text, words].filter((part) => part !== '').join('\n'),
          note: SPOKEN,
        }),
        (error: unknown): FilterResult => {
          const reason = error instanceof Error ? error.message : String(error);
          log.warn('a voice note was not understood', { id: message.id, reason });
          return notUnderstood(message, reason);
        },
      );
    return (message, call) => {
      const note = message.attachments.find(({ kind }) => kind === 'voice');
      if (note === undefined || message.isContext) return { kind: 'pass' };
      const { VOICE_NOTE_SECONDS: longest } = settings;
      // What its sender says is enough to leave it, and not enough to believe it is short.
      if (note.seconds !== undefined && note.seconds > longest) {
        return notUnderstood(message, tooLong(note.seconds, longest));
      }
      return hear(message, call, note.seconds ?? null);
    };
  },
});

async function heard(
  { by, settings, dataDir, now }: Means,
  { fetchAttachment, pay, signal }: FilterCall,
  claimed: number | null,
): Promise<string> {
  signal.throwIfAborted();
  const file = await fetchAttachment();
  const seconds = await lengthOf({ ...file, seconds: claimed });
  const { VOICE_NOTE_SECONDS: longest, VOICE_WAIT_SECONDS: patience } = settings;
  if (seconds > longest) throw new VoiceError('TOO_LONG', tooLong(seconds, longest));
  const microDollars = microDollarsHeard(settings, seconds);
  book({ dataDir, now }, settings, {
    seconds,
    microDollars,
    pay() {
      if (pay(microDollars)) return;
      throw new VoiceError('DAY_IS_USED_UP', 'the budget for today is used up');
    },
  });
  const pause = (ms: number, until: AbortSignal) =>
    delay(ms, undefined, { signal: until }).catch(() => {});
  const means = { limitMs: patience * 1_000, signal, pause };
  return await listen(by, { path: file.path, seconds }, means);
}

/** A note with words beside it is a message of its own; otherwise the chat is told in place of an answer. */
function notUnderstood({ text }: FilteredMessage, reason: string): FilterResult {
  const note = `the voice note was not understood: ${reason}`;
  if (text !== '') return { kind: 'change', note };
  const reply = `I could not listen to this voice note: ${reason.replace(/\.$/, '')}. It is kept; please say it again, or write it.`;
  return { kind: 'change', note, reply };
}

function tooLong(seconds: number, longest: number): string {
  return `it is ${inWords(seconds)} long, and I listen to ${inWords(longest)} at most`;
}

function inWords(seconds: number): string {
  return seconds < 120 ? `${Math.ceil(seconds)} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

/** Hears so many notes at once, of several chats: one by a program, which may need all of this machine. */
function atOnce(most: number) {
  const waiting: (() => void)[] = [];
  let free = most;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free === 0) await new Promise<void>((resolve) => void waiting.push(resolve));
    else free -= 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
