import type { Choice, ChoiceOutcome, InboundMessage } from '../../channels/channel.ts';
import type { StoredAsk } from '../../store/asks.ts';
import type { ClockPort, IdPort, StorePort } from '../contracts/ports.ts';
import { isAmong, replyTo } from '../contracts/question.ts';
import {
  answeredText,
  askedText,
  declinedText,
  type KeptQuestion,
  parseKept,
  pressedChoices,
} from './question.ts';

type AnswerOptions = StorePort & ClockPort & IdPort;

type Open = StoredAsk & { readonly kept: KeptQuestion };

/**
 * Takes a message as the answer to a question that its sender was asked in this chat. The reply is stored;
 * who waits for it is woken when that is on disk. Belongs into the transaction of the message.
 *
 * @returns what the sender is told; null where it is other talk
 */
export function takeAnswer(options: AnswerOptions, message: InboundMessage): string | null {
  const { store, now } = options;
  const open = openFor(options, message);
  if (open.length === 0) return null;
  const named = numbered(open, message.text);
  if (named !== null) return note(options, named.ask, named.word);
  const fitting = open.flatMap((ask) => {
    const reply = replyTo(ask.kept, message.text);
    return reply === null ? [] : [{ ask, reply }];
  });
  const [first] = fitting;
  if (first === undefined) return null;
  if (open.length > 1) return which(open);
  const { ask, reply } = first;
  if (!isAmong(ask.kept, reply)) {
    return `There is no choice ${reply.word}. Say a number from 1 to ${ask.kept.choices.length}.`;
  }
  // A yes to something else must not count here.
  if (store.asks.isOvertaken(ask.id)) {
    store.asks.repeat(ask.id, now());
    const again = askedText(ask.kept, { number: ask.number, isAlone: true });
    return `Something else was said here since I asked. To be sure, once more:\n\n${again}`;
  }
  return note(options, ask, reply.word);
}

/**
 * Takes a press as the answer to its question, where the person who pressed is the one asked, in the chat
 * of the question. What was said since does not matter: a press names its question.
 */
export function takeChoice(options: AnswerOptions, choice: Choice): ChoiceOutcome {
  const { store, now, newId } = options;
  const { question, word } = choice;
  return store.transaction(() => {
    const isMeant = ({ id }: StoredAsk) => id === question;
    if (!store.asks.inChat(choice.jid).some(isMeant)) return 'closed';
    const ask = openFor(options, choice).find(isMeant);
    if (ask === undefined) return 'not-asked';
    const isOffered = pressedChoices(ask.id, ask.kept).options.some((one) => one.word === word);
    if (!isOffered) return 'closed';
    const about = { jid: choice.jid, threadOf: ask.kept.turnId };
    store.outbox.add({ messageId: newId(), ...about, text: note(options, ask, word) }, now());
    return 'noted';
  });
}

/**
 * Withdraws what the sender was asked in this chat: they talk of something else, and a later yes would mean
 * that.
 */
export function withdrawAsks(options: AnswerOptions, message: InboundMessage): void {
  const { store, now, newId } = options;
  for (const { id, kept } of openFor(options, message)) {
    store.asks.close(id);
    store.outbox.add({ messageId: newId(), jid: message.jid, text: declinedText(kept) }, now());
  }
}

/** Returns the open questions of a chat that only this sender may answer. */
function openFor(
  { store }: AnswerOptions,
  { jid, sender, isOwner }: Pick<InboundMessage, 'jid' | 'sender' | 'isOwner'>,
): readonly Open[] {
  return store.asks.inChat(jid).flatMap((ask) => {
    const kept = parseKept(ask.payload);
    const isAsked = ask.sender === null ? isOwner : ask.sender === sender;
    return kept !== null && isAsked ? [{ ...ask, kept }] : [];
  });
}

/** Reads an answer that names its question: `2 yes`, `#2 1`. */
function numbered(
  open: readonly Open[],
  text: string,
): { readonly ask: Open; readonly word: string } | null {
  const [, number, rest = ''] = /^#?(\d{1,3})[\s.:]+(\S.*)$/.exec(text.trim()) ?? [];
  const ask = open.find((one) => one.number === Number(number));
  const reply = ask === undefined ? null : replyTo(ask.kept, rest);
  if (ask === undefined || reply === null || !isAmong(ask.kept, reply)) return null;
  return { ask, word: reply.word };
}

function note({ store }: AnswerOptions, { id, kept }: Open, word: string): string {
  store.asks.answer(id, word);
  return answeredText(kept, word);
}

function which(open: readonly Open[]): string {
  const lines = open.map(({ number, kept }) => {
    const [first = ''] = kept.text.split('\n', 1);
    const word = kept.choices.length === 0 ? 'yes' : '1';
    return `- \`${number} ${word}\` and the like: ${first}`;
  });
  return `${open.length} questions are open here. Say the number of the one you mean:\n${lines.join('\n')}`;
}
