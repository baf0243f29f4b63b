import type { InboundMessage } from '../../channels/channel.ts';
import type { Group, Store } from '../../store/store.ts';
import { type AfterAnswer, takeAnswer, withdrawQuestions } from '../asking/answers.ts';
import type { Command } from '../contracts/command.ts';
import {
  asCommand,
  isCommandText,
  matchCommand,
  ownerCommands,
} from '../contracts/match-command.ts';
import type { ClockPort, IdPort, SettingsPort, StorePort } from '../contracts/ports.ts';
import { isTriggered } from '../groups/trigger.ts';
import type { CommandRequest } from '../turns/commands/command-turn.ts';
import { membersCommands } from '../turns/commands/members-command-turn.ts';
import { titleOf } from './command-title.ts';
import { shownMessage, wordsWithNotes } from './shown-message.ts';

export type QueueTurnOptions = StorePort &
  SettingsPort &
  ClockPort &
  IdPort & { readonly commands: readonly Command[] };

type RunRequest = Extract<CommandRequest, { kind: 'run' }>;

/** A message that is stored. */
export type Admitted = {
  readonly group: Group;
  /** As the person wrote it. */
  readonly message: InboundMessage;
  /** As the filters left it. */
  readonly text: string;
  readonly seq: number;
  /** A filter's line for the chat, in place of an answer. */
  readonly reply: string | null;
};

/** Queues the turn that a stored message asks for: an answer, a command, a word to the agent; or none. */
export function queueTurn(
  options: QueueTurnOptions,
  { group, message, text, seq, reply }: Admitted,
): void {
  const { store, settings, now, newId } = options;
  if (message.isContext || message.isLate) return;
  // What a filter made of a message is not the person's own word: no command, and no yes to anything.
  const isAsWritten = mayDecide(message) && text === wordsWithNotes(message);
  const mayAnswer = isAsWritten && !isCommandText(saidIn(group, message));
  const after = mayAnswer ? takeAnswer(options, message) : null;
  if (after !== null) {
    queueAnswered(options, group, seq, after);
    return;
  }
  const request = isAsWritten ? commandRequest(options, group, message) : null;
  const isQuick = request?.isQuick === true;
  // A forward is not a word of theirs: not even a no.
  if (!isQuick && mayDecide(message)) withdrawQuestions(options, message);
  const turn = { id: newId(), jid: group.jid, seq };
  if (request !== null) {
    if (message.isOwner && !isQuick) sayWhatIsAtWork(options, group, request);
    store.turns.queueCommand(turn, request, now());
    return;
  }
  // A mark before its name must not hide a call of the assistant, and a transcript may hold one.
  const isCall = [message.text, text].some((words) =>
    isForAssistant(message, words, { group, assistantName: settings.assistantName }),
  );
  if (!isCall || !mayCall(store, message)) return;
  if (reply === null) store.turns.queueAgent(turn, now());
  else {
    const replyTo = message.isDirect ? null : message.id;
    store.outbox.add({ messageId: newId(), jid: group.jid, text: reply, replyTo }, now());
  }
}

/** Queues the turn after an answer, which was said or pressed. */
export function queueAnswered(
  options: StorePort & ClockPort & IdPort,
  group: Group,
  seq: number,
  after: AfterAnswer,
): void {
  const { store, now, newId } = options;
  if (after.kind === 'reply') sayWhatIsAtWork(options, group, after);
  store.turns.queueCommand({ id: newId(), jid: group.jid, seq }, after, now());
}

/** Tells whether the words of a message are its sender's: those of a forward never command, answer or call. */
function isOwnWord({ forwarded }: InboundMessage): boolean {
  return forwarded === undefined;
}

/** Tells whether the words of a message may be a command or an answer to a question. */
export function mayDecide(message: InboundMessage): boolean {
  return isOwnWord(message) && message.isTalk !== true;
}

/**
 * Tells whether a message asks for an answer. A picture without a word does where every message does, and so does a
 * forward, which elsewhere calls nobody, whatever it says.
 */
function isForAssistant(
  message: InboundMessage,
  words: string,
  { group, assistantName }: { readonly group: Group; readonly assistantName: string },
): boolean {
  const { isContext, mentionsAssistant } = message;
  const about = isContext === undefined ? {} : { isContext };
  if (!isOwnWord(message)) {
    if (group.needsTrigger) return false;
    return isTriggered(
      { ...about, text: shownMessage(message), mentionsAssistant: false },
      group,
      assistantName,
    );
  }
  const text = words.trim() === '' ? shownMessage(message) : words;
  return isTriggered({ ...about, text, mentionsAssistant }, group, assistantName);
}

/** Tells whether a message may start a turn; other members' messages are context of those that may. */
function mayCall(store: Store, { jid, sender, isOwner }: InboundMessage): boolean {
  return isOwner || store.senders.mayCall(jid, sender);
}

/**
 * Reads a message as a command; null for anything else. Elsewhere than in the owner's own chats, a word after a
 * slash that is not a command there is plain text.
 */
function commandRequest(
  options: QueueTurnOptions,
  group: Group,
  message: InboundMessage,
): RunRequest | null {
  const text = saidIn(group, message);
  if (!isCommandText(text)) return null;
  const asMember = membersRequest(options, group, message);
  if (asMember !== null || !message.isOwner) return asMember;
  const match = matchCommand(text, ownerCommands(options.commands, group));
  if (match.kind === 'unknown') return group.isMain ? { kind: 'run', text } : null;
  const isQuick = match.command.isQuick === true;
  return isQuick ? { kind: 'run', text, isQuick } : { kind: 'run', text };
}

function saidIn({ isMain }: Group, { text, isOwner }: InboundMessage): string {
  return isMain && isOwner ? asCommand(text) : text.trim();
}

function membersRequest(
  { commands, store }: QueueTurnOptions,
  group: Group,
  message: InboundMessage,
): RunRequest | null {
  const here = membersCommands(commands, group);
  if (here.length === 0 || matchCommand(message.text, here).kind === 'unknown') return null;
  if (!mayCall(store, message)) return null;
  const { sender: id, senderName: name, isOwner } = message;
  return { kind: 'run', text: message.text.trim(), by: { id, name, isOwner } };
}

/**
 * Tells the owner which command is at work: their commands run one after the other, and one may take
 * minutes.
 */
function sayWhatIsAtWork(
  { store, now, newId }: StorePort & ClockPort & IdPort,
  { jid, folder }: Group,
  request: CommandRequest,
): void {
  const atWork = store.turns.commandAtWork(folder);
  if (atWork === undefined) return;
  const what = request.kind === 'run' ? titleOf(request) : 'your answer';
  const text = `${titleOf(atWork)} is still at work; ${what} comes after it.`;
  store.outbox.add({ messageId: newId(), jid, text }, now());
}
