import type { Channel, InboundMessage } from '../../channels/channel.ts';
import type { Group, Store } from '../../store/store.ts';
import { type AfterAnswer, takeAnswer, withdrawQuestions } from '../asking/answers.ts';
import { textWithFiles } from '../attachments/attachments.ts';
import type { Command } from '../contracts/command.ts';
import { isCommandText, matchCommand, ownerCommands } from '../contracts/match-command.ts';
import type {
  ClockPort,
  IdPort,
  ProjectPort,
  SettingsPort,
  StorePort,
} from '../contracts/ports.ts';
import { plainName } from '../groups/plain-name.ts';
import { freeFolder } from '../groups/registry.ts';
import { ALWAYS, isTriggered } from '../groups/trigger.ts';
import type { CommandRequest } from '../turns/commands/command-turn.ts';
import { membersCommands } from '../turns/commands/members-command-turn.ts';
import { titleOf } from './command-title.ts';
import type { Ended, Filtering } from './filtering.ts';

type ReceiveOptions = StorePort &
  SettingsPort &
  ProjectPort & { readonly commands: readonly Command[] } & ClockPort &
  IdPort;
type RunRequest = Extract<CommandRequest, { kind: 'run' }>;
type Source = Pick<Channel, 'name' | 'isOpen'>;

/** A stored message's place: a group, which may have registered itself with it, or a chat that is not heard. */
export type Received = {
  readonly jid: string;
  readonly whose: 'group' | 'stranger' | 'unheard';
  readonly group: Group | null;
  readonly isNewcomer: boolean;
  /** It is on disk, and waits for the inbound filters. */
  readonly isHeld?: boolean;
};

/**
 * Stores a message and the turn it asks for, both or neither. A message that is here already changes nothing.
 *
 * It runs inside the transaction of a group commit, where its own is a savepoint: the message is on disk when
 * that one is, and `onMessage` resolves then.
 *
 * Of an unregistered chat only the name is kept, and a stranger who writes directly is counted.
 */
export function receive(
  options: ReceiveOptions,
  source: Source,
  message: InboundMessage,
  filtering: Pick<Filtering, 'begin'>,
): Received {
  const { store, now } = options;
  return store.transaction(() => {
    const { jid, isDirect, isOwner, sender } = message;
    const name = plainName(message.chatName);
    store.chats.see({ jid, channel: source.name, name, isDirect }, now());
    const known = store.groups.byJid(jid);
    const mayJoin = known === null && mayRegister(store, source, message);
    const group = mayJoin ? registerDirect(options, source, message) : known;
    if (group === null) {
      if (!isDirect || isOwner) return { jid, whose: 'unheard', group, isNewcomer: false };
      store.strangers.count(source.name, sender, now());
      return { jid, whose: 'stranger', group, isNewcomer: false };
    }
    const received = { jid, whose: 'group', group, isNewcomer: known === null } as const;
    // The owner's commands are theirs alone, and must work while a filter does not.
    const isCommand = isOwner && isCommandText(message.text);
    const outcome = isCommand
      ? ({ kind: 'through', text: message.text, notes: [] } as const)
      : filtering.begin({ channel: source.name, message }, group);
    if (outcome === null) return { ...received, isHeld: true };
    admit(options, group, message, outcome);
    return received;
  });
}

/**
 * Stores a message as the filters have left it, with the turn that it asks for, or counts it as dropped.
 * Belongs into a transaction.
 */
export function admit(
  options: ReceiveOptions,
  group: Group,
  message: InboundMessage,
  outcome: Ended,
): void {
  const { store, now } = options;
  const { jid, id } = message;
  if (outcome.kind === 'dropped') {
    if (store.messages.has(jid, id)) return;
    store.droppedMessages.count(outcome.filter, outcome.reason, now());
    return;
  }
  const { text, notes } = outcome;
  const whole = [textWithFiles({ ...message, text }), ...notes]
    .filter((line) => line !== '')
    .join('\n');
  const seq = store.messages.add({ ...message, text: whole }, now());
  if (seq === null) return;
  store.attachments.add(seq, message.attachments ?? []);
  if (message.isLate) store.lateMessages.count(jid);
  queueTurn(options, { group, message, text, seq });
}

/**
 * Tells whether a direct chat may register itself: its sender is on an allow-list, the channel's own, which
 * let the message through, or where the channel has none the owner's. Never after the owner has taken it
 * out.
 */
function mayRegister(store: Store, { name, isOpen }: Source, message: InboundMessage): boolean {
  const { jid, isDirect, isOwner, sender } = message;
  if (!isDirect || store.chats.isDismissed(jid)) return false;
  // In a chat with another person the owner speaks to them, not to the assistant.
  return isOpen !== true || (!isOwner && store.senders.mayWrite(name, sender));
}

function registerDirect(
  options: ReceiveOptions,
  { name: channel }: Source,
  { jid, chatName, senderName, sender }: InboundMessage,
): Group {
  const { store, now } = options;
  const group: Group = {
    jid,
    folder: freeFolder(options, { channel, jid, name: null }),
    name: plainName(chatName) ?? plainName(senderName) ?? sender,
    ...ALWAYS,
    isMain: false,
  };
  store.groups.register(group, now());
  return group;
}

type Admitted = {
  readonly group: Group;
  /** As the person wrote it. */
  readonly message: InboundMessage;
  /** As the filters left it. */
  readonly text: string;
  readonly seq: number;
};

function queueTurn(options: ReceiveOptions, { group, message, text, seq }: Admitted): void {
  const { store, settings, now, newId } = options;
  if (message.isContext || message.isLate) return;
  // What a filter made of a message is not the person's own word: no command, and no yes to anything.
  const isOwnWord = text === message.text;
  const mayAnswer = isOwnWord && !isCommandText(text);
  const after = mayAnswer ? takeAnswer(options, message) : null;
  if (after !== null) {
    queueAnswered(options, group, seq, after);
    return;
  }
  const request = isOwnWord ? commandRequest(options, group, message) : null;
  const isQuick = request?.isQuick === true;
  if (!isQuick) withdrawQuestions(options, message);
  const turn = { id: newId(), jid: group.jid, seq };
  if (request !== null) {
    if (message.isOwner && !isQuick) sayWhatIsAtWork(options, group, request);
    store.turns.queueCommand(turn, request, now());
    return;
  }
  // A mark before its name must not hide a call of the assistant, and a transcript may hold one.
  const isCall = [message, { ...message, text }].some((as) =>
    isForAssistant(as, group, settings.assistantName),
  );
  if (isCall && mayCall(store, message)) store.turns.queueAgent(turn, now());
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

/** Tells whether a message asks for an answer. A picture without a word does where every message does. */
function isForAssistant(message: InboundMessage, group: Group, assistantName: string): boolean {
  return isTriggered({ ...message, text: textWithFiles(message) }, group, assistantName);
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
  options: ReceiveOptions,
  group: Group,
  message: InboundMessage,
): RunRequest | null {
  if (!isCommandText(message.text)) return null;
  const text = message.text.trim();
  const asMember = membersRequest(options, group, message);
  if (asMember !== null || !message.isOwner) return asMember;
  const match = matchCommand(text, ownerCommands(options.commands, group));
  if (match.kind === 'unknown') return group.isMain ? { kind: 'run', text } : null;
  const isQuick = match.command.isQuick === true;
  return isQuick ? { kind: 'run', text, isQuick } : { kind: 'run', text };
}

function membersRequest(
  { commands, store }: ReceiveOptions,
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
