import type {
  Choice,
  ChoiceOutcome,
  InboundMessage,
  Reaction,
  ReactionOutcome,
} from '../../channels/channel.ts';
import type { Store, StoredAsk } from '../../store/store.ts';
import type { ClockPort, IdPort, StorePort } from '../contracts/ports.ts';
import { isAmong, type Reply, replyTo } from '../contracts/question.ts';
import type { CommandRequest } from '../turns/commands/command-turn.ts';
import {
  answeredText,
  askedText,
  declinedText,
  type KeptQuestion,
  parseKept,
  pressedChoices,
} from './question.ts';

type AnswerOptions = StorePort & ClockPort & IdPort;

type OpenAsk = StoredAsk & { readonly kept: KeptQuestion };

/** The turn after an answer: a command continues with it, or its sender is told the outcome. */
export type AfterAnswer = Extract<CommandRequest, { kind: 'said' | 'reply' }>;

/**
 * Takes a message as the answer to a question that its sender was asked in this chat. The reply is stored;
 * who waits for it is woken when that is on disk. Belongs into the transaction of the message.
 *
 * @returns null where it is other talk
 */
export function takeAnswer(options: AnswerOptions, message: InboundMessage): AfterAnswer | null {
  const { store, now } = options;
  const open = seenBy(options, message);
  if (open.length === 0) return null;
  const { text } = message;
  const named = numbered(open, text);
  if (typeof named === 'string') return said(named);
  if (named !== null) return take(options, named.ask, named.reply);
  const fitting = open.flatMap((ask) => {
    const reply = replyTo(answerable(ask.kept), text);
    return reply === null ? [] : [{ ask, reply }];
  });
  const [first] = fitting;
  if (first === undefined) return null;
  if (open.length > 1) return said(which(open));
  const { ask, reply } = first;
  if (!isAmong(answerable(ask.kept), reply)) {
    const { length } = ask.kept.choices;
    return said(`There is no choice ${reply.word}. Say a number from 1 to ${length}.`);
  }
  const doubt = doubtAbout(options, ask, message.sender);
  if (doubt === null) return take(options, ask, reply);
  store.asks.repeat(ask.id, now());
  const again = askedText(ask.kept, { number: ask.number, isAlone: !ask.kept.isNumbered });
  return said(`${doubt} To be sure, once more:\n\n${again}`);
}

/** An answer that comes later than this, and names no question, may be meant for something else. */
const RECENT_MS = 3_600_000;

/** Returns why an answer that names no question may be meant for something else; null where nothing speaks for it. */
function doubtAbout({ store, now }: AnswerOptions, ask: OpenAsk, sender: string): string | null {
  if (store.asks.isFollowedByOther(ask.id, sender)) {
    // Where much is said, only an answer that names its question ever counts.
    return `Something else was said here since I asked; \`${ask.number} ${exampleOf(ask.kept)}\` and the like always counts.`;
  }
  const ageMs = now() - ask.askedAt;
  return ageMs > RECENT_MS ? `I asked this ${agoText(ageMs)} ago.` : null;
}

function agoText(ageMs: number): string {
  const hours = Math.floor(ageMs / 3_600_000);
  if (hours < 2) return 'more than an hour';
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}

/**
 * Takes a button press as the answer to its question, if the person asked pressed it, in the chat of the question.
 * Messages in between do not matter: a press names its question.
 *
 * @param queue queues the command that goes on with it, as the turn of a message with this number
 */
export function takeChoice(
  options: AnswerOptions,
  choice: Choice,
  queue: (seq: number, request: AfterAnswer) => void,
): ChoiceOutcome {
  const { store, now, newId } = options;
  const { question, word, jid } = choice;
  return store.transaction(() => {
    const isMeant = ({ id }: StoredAsk) => id === question;
    if (!store.asks.inChat(jid).some(isMeant)) return 'closed';
    const ask = openFor(options, choice).find(isMeant);
    if (ask === undefined) return 'not-asked';
    const { kept } = ask;
    const offered = pressedChoices(ask.id, kept)?.options ?? [];
    const option = offered.find((one) => one.word === word) ?? offered[Number(word) - 1];
    if (option === undefined) return 'closed';
    const after = take(options, ask, { word: option.word, text: '', isForAll: false });
    if (after.kind === 'said') {
      const about = { jid, threadOf: kept.turnId };
      store.outbox.add({ messageId: newId(), ...about, text: after.text }, now());
      return 'noted';
    }
    const seq = store.messages.addPress({ ...choice, text: option.label, of: kept.turnId }, now());
    if (seq !== null) queue(seq, after);
    return 'noted';
  });
}

/**
 * Withdraws the questions to the sender in this chat: they have changed the subject, so a later yes would mean
 * something else.
 */
export function withdrawQuestions(options: AnswerOptions, message: InboundMessage): void {
  const { store, now, newId } = options;
  for (const { id, kept } of seenBy(options, message)) {
    store.asks.close(id);
    store.outbox.add({ messageId: newId(), jid: message.jid, text: declinedText(kept) }, now());
  }
}

/**
 * Returns those of the questions that the sender of a message can have read. Where a channel is back after a
 * while, what people said meanwhile comes before what waits for them goes out.
 */
function seenBy(options: AnswerOptions, message: InboundMessage): readonly OpenAsk[] {
  return openFor(options, message).filter(({ id }) => !options.store.outbox.isUnread(id));
}

/** Returns the open questions of a chat that only this sender may answer. */
function openFor(
  { store }: AnswerOptions,
  { jid, sender, isOwner }: Pick<InboundMessage, 'jid' | 'sender' | 'isOwner'>,
): readonly OpenAsk[] {
  return store.asks.inChat(jid).flatMap((ask) => {
    const kept = parseKept(ask.payload);
    const isAsked = ask.sender === null ? isOwner : ask.sender === sender;
    return kept !== null && isAsked ? [{ ...ask, kept }] : [];
  });
}

/**
 * Reads an answer that names its question: `2 yes`, `#2 1`.
 *
 * @returns a sentence where there is no such question or choice; null for other talk
 */
function numbered(
  open: readonly OpenAsk[],
  text: string,
): { readonly ask: OpenAsk; readonly reply: Reply } | string | null {
  const [, number, rest = ''] = /^#?(\d{1,3})[\s.:,)]+(\S[\s\S]*)$/.exec(text.trim()) ?? [];
  const ask = open.find((one) => one.number === Number(number));
  const isNumbered = open.length > 1 || open.some(({ kept }) => kept.isNumbered);
  if (ask === undefined) {
    const isMeant = ({ kept }: OpenAsk) =>
      !kept.takesText && replyTo(answerable(kept), rest) !== null;
    return isNumbered && open.some(isMeant)
      ? `There is no question ${number}. ${which(open)}`
      : null;
  }
  // The answer to one that was put without its number may begin with any.
  if (ask.kept.takesText && !isNumbered) return null;
  const reply = replyTo(answerable(ask.kept), rest);
  if (reply === null || isAmong(answerable(ask.kept), reply)) return reply && { ask, reply };
  return isNumbered ? `There is no choice ${reply.word}. ${which([ask])}` : null;
}

/** Stores an answer: for the work that waits, or as the end of a question that a command goes on from. */
function take({ store }: AnswerOptions, { id, kept }: OpenAsk, reply: Reply): AfterAnswer {
  if (kept.continuation === null) {
    store.asks.answer(id, reply);
    return said(answeredText(kept, reply));
  }
  store.asks.close(id);
  const { text, choices, continuation } = kept;
  return { kind: 'reply', question: { ...continuation, text, choices }, reply };
}

/** It waits for no command at work, which may be what asked. */
function said(text: string): AfterAnswer {
  return { kind: 'said', text, isQuick: true };
}

function answerable({ choices, takesText, continuation }: KeptQuestion) {
  return { choices, takesText, mayBeForAll: continuation?.mayBeForAll === true };
}

function which(open: readonly OpenAsk[]): string {
  const lines = open.map(({ number, kept }) => {
    const [first = ''] = kept.text.split('\n', 1);
    return `- \`${number} ${exampleOf(kept)}\` and the like: ${first}`;
  });
  const count = open.length === 1 ? '' : `${open.length} questions are open here. `;
  return `${count}Say the number of the one you mean:\n${lines.join('\n')}`;
}

function exampleOf({ choices, takesText }: KeptQuestion): string {
  if (takesText) return 'your answer';
  return choices.length === 0 ? 'yes' : '1';
}

const YES = ['👍', '✅'];
const NO = ['👎'];

/**
 * Takes a reaction to a question as a yes or a no, if it is one of these and comes from the person asked. Removing it
 * later changes nothing: the answer was used.
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
