import type { Reaction, ReactionOutcome } from '../../channels/channel.ts';
import type { Store } from '../../store/store.ts';
import type { ClockPort, IdPort, StorePort } from '../contracts/ports.ts';
import { type AfterAnswer, takeChoice } from './answers.ts';
import { parseKept } from './question.ts';

const YES = ['👍', '✅'];
const NO = ['👎'];

/**
 * Takes a reaction to a question as a yes or a no, where it is one and the person who was asked has put it there.
 * Taking it away later changes nothing: the answer was used.
 *
 * @param queue queues the command that goes on with the answer
 * @returns null where it answers nothing
 */
export function takeReaction(
  options: StorePort & ClockPort & IdPort,
  { messageId: question, emoji, ...who }: Reaction,
  queue: (seq: number, request: AfterAnswer) => void,
): Extract<ReactionOutcome, 'answered' | 'ignored'> | null {
  const word = wordOf(emoji);
  if (!isOpenFor(options.store, question, word)) return null;
  if (word === null) return 'ignored';
  return takeChoice(options, { ...who, question, word }, queue) === 'noted'
    ? 'answered'
    : 'ignored';
}

function wordOf(emoji: string | null): 'yes' | 'no' | null {
  // A sign that asks for a colourful picture, and one for the tone of the skin.
  const plain = emoji?.replace(/\ufe0f|[\u{1f3fb}-\u{1f3ff}]/gu, '') ?? '';
  if (YES.includes(plain)) return 'yes';
  return NO.includes(plain) ? 'no' : null;
}

/** Tells whether a message is an open question. One among other words than yes and no is not answered this way. */
function isOpenFor(store: Store, id: string, word: string | null): boolean {
  const ask = store.asks.byId(id);
  const kept = ask === null || ask.reply !== null ? null : parseKept(ask.payload);
  if (kept === null || kept.takesText) return false;
  return kept.choices.length === 0 || kept.choices.some((choice) => choice.word === word);
}
