import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InboundMessage } from '../channels/channel.ts';
import type { Group, Store } from '../store/store.ts';
import { isCommandText } from './command.ts';
import type { CommandRequest } from './command-turn.ts';
import { folderNameFor } from './folder-name.ts';
import type { HostOptions } from './options.ts';
import { parseQuestion, yesOrNo } from './question.ts';
import { isTriggered } from './trigger.ts';

type ReceiveOptions = Pick<HostOptions, 'store' | 'settings' | 'projectDir' | 'now' | 'newId'>;

/**
 * Stores a message and, in the same transaction, the turn it asks for. When this returns, both are
 * on disk, so the channel may acknowledge. A message that is here already changes nothing.
 *
 * A direct chat has passed its channel's allow-list and registers itself; of any other unregistered
 * chat only the name is kept.
 */
export function receive(options: ReceiveOptions, channel: string, message: InboundMessage): void {
  const { store, projectDir, now } = options;
  const newcomer = store.transaction(() => {
    const { jid, chatName: name, isDirect } = message;
    store.chats.see({ jid, channel, name, isDirect }, now());
    const known = store.groups.byJid(jid);
    if (known === null && !isDirect) return null;
    const group = known ?? registerDirect(options, channel, message);
    const seq = store.messages.add(message, now());
    if (seq !== null) queueTurn(options, group, message, seq);
    return known === null ? group : null;
  });
  if (newcomer !== null)
    mkdirSync(join(projectDir, 'groups', newcomer.folder), { recursive: true });
}

function registerDirect(
  { store, now }: ReceiveOptions,
  channel: string,
  { jid, chatName, senderName, sender }: InboundMessage,
): Group {
  const isTaken = (folder: string): boolean => store.groups.byFolder(folder) !== null;
  const group: Group = {
    jid,
    folder: folderNameFor(channel, jid, isTaken),
    name: chatName ?? senderName ?? sender,
    needsTrigger: false,
    triggerWord: null,
    isMain: false,
  };
  store.groups.register(group, now());
  return group;
}

function queueTurn(
  { store, settings, now, newId }: ReceiveOptions,
  group: Group,
  message: InboundMessage,
  seq: number,
): void {
  const turn = { id: newId(), jid: group.jid, seq };
  const isOwnersWord = group.isMain && message.isOwner;
  const request = isOwnersWord ? commandRequest(store, message) : null;
  if (isOwnersWord) withdrawQuestion({ store, now, newId }, group.jid, request);
  if (request !== null) store.turns.queueCommand(turn, request, now());
  else if (isTriggered(message, group, settings.assistantName)) store.turns.queueAgent(turn, now());
}

function commandRequest(store: Store, { jid, text }: InboundMessage): CommandRequest | null {
  if (isCommandText(text)) return { kind: 'run', text: text.trim() };
  const question = parseQuestion(store.questions.pending(jid));
  const reply = yesOrNo(text);
  return question === null || reply === null ? null : { kind: 'reply', question, reply };
}

/** A question is answered by the next thing the owner says, or not at all: a later yes means something else. */
function withdrawQuestion(
  { store, now, newId }: Pick<ReceiveOptions, 'store' | 'now' | 'newId'>,
  jid: string,
  request: CommandRequest | null,
): void {
  const question = parseQuestion(store.questions.pending(jid));
  if (question === null) return;
  store.questions.close(jid);
  if (request?.kind !== 'reply') {
    store.outbox.add({ messageId: newId(), jid, text: question.declined }, now());
  }
}
