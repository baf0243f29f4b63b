import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ChannelClock, OutboundChoices, OutboundFile, OutboundMessage } from '../channel.ts';
import { type Attempts, findLost, type LostParts } from '../kit/attempts.ts';
import { editedParts } from '../kit/edited-parts.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { type MatrixApi, MatrixFailure, pathOf } from './api.ts';
import { keysOf } from './choices.ts';
import type { Encryption } from './encryption/encryption.ts';
import { MatrixError } from './error.ts';
import { explainSend, isRefusal } from './failure.ts';
import { uploadFile } from './files.ts';
import type { Members } from './inbound/members.ts';
import type { Rooms } from './inbound/rooms.ts';
import { roomIdOf } from './jid.ts';
import { formatParts, type Words } from './markdown.ts';
import type { Questions } from './records/questions.ts';

/** One request of those that a message becomes. */
export type Sending =
  | { readonly kind: 'send'; readonly part: Words; readonly at: number }
  | { readonly kind: 'edit'; readonly part: Words; readonly at: number; readonly farId: string }
  | { readonly kind: 'file'; readonly file: OutboundFile; readonly at: number }
  | { readonly kind: 'remove'; readonly farId: string }
  | { readonly kind: 'choices'; readonly choices: OutboundChoices; readonly at: number }
  | { readonly kind: 'reaction'; readonly emoji: string };

export type DeliveryOptions = {
  readonly api: MatrixApi;
  readonly clock: ChannelClock;
  readonly sent: SentMessages;
  readonly attempts: Attempts;
  readonly rooms: Rooms;
  readonly members: Members;
  readonly encryption: Encryption;
  readonly questions: Questions;
};

/** Sends messages from an account. What fails is a MatrixError. */
export function createDelivery(options: DeliveryOptions): PartDelivery<Sending> {
  const { clock, sent } = options;
  const delivery: PartDelivery<Sending> = new PartDelivery<Sending>({
    prepare: (message) =>
      findLost({ ...options, find: finder(options, message, delivery.signal) }, message),
    partsOf: (message) => {
      roomIn(message.jid);
      return sendingsOf(message, sent.partsOf(message.id, message.replaces));
    },
    send: (message, sending, signal) => carryOut({ ...options, message, signal }, sending),
    pauseMs: (error) => (error instanceof MatrixFailure ? error.waitMs : null),
    pause: (ms, signal) => clock.pause(ms, signal),
    explain: explainSend,
  });
  return delivery;
}

/** Takes a message away, all parts of it. @throws MatrixError */
export async function takeBack(
  options: DeliveryOptions,
  { jid, id }: Pick<OutboundMessage, 'jid' | 'id'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await findLost({ ...options, find: finder(options, { jid }, signal) }, { jid, id });
    for (const farId of options.sent.partsOf(id)) {
      if (farId !== undefined) await remove({ ...options, signal }, { jid, farId });
    }
  } catch (error) {
    throw explainSend(error);
  }
}

const Content = z.looseObject({ body: z.string(), formatted_body: z.string().optional() });

/** Sends a part once more as it was, in its transaction: the server answers with the event that is there, if it is. */
function finder(
  options: DeliveryOptions,
  { jid }: Pick<OutboundMessage, 'jid'>,
  signal: AbortSignal,
): LostParts['find'] {
  return async ({ id, part, text }) => {
    const content = Content.parse(JSON.parse(text));
    const place = { ...options, message: { jid }, signal };
    try {
      const farId = await post(place, 'm.room.message', content, `${id} ${part}`);
      const words: Words = { body: content.body, html: content.formatted_body ?? null };
      return { farId, text: JSON.stringify(words) };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      options.attempts.end({ id, part });
      return null;
    }
  };
}

/** @param known the events that are there of it, or of what it replaces */
function sendingsOf(
  { text, choices, attachments = [], reactsTo }: OutboundMessage,
  known: readonly (string | undefined)[],
): readonly Sending[] {
  if (reactsTo !== undefined) return [{ kind: 'reaction', emoji: text.trim() }];
  const parts = formatParts(text);
  const steps = editedParts(parts, known);
  const files = attachments.map((file, at) => ({ kind: 'file', file, at }) as const);
  const isNeedless = ({ kind }: Sending) => kind === 'remove';
  const asked =
    choices === undefined || parts.length === 0
      ? []
      : [{ kind: 'choices', choices, at: parts.length - 1 } as const];
  const [kept, needless] = [steps.filter((step) => !isNeedless(step)), steps.filter(isNeedless)];
  return [...kept, ...asked, ...files, ...needless];
}

type DeliveryRequest = DeliveryOptions & {
  readonly message: OutboundMessage;
  readonly signal: AbortSignal;
};

async function carryOut(request: DeliveryRequest, sending: Sending): Promise<void> {
  switch (sending.kind) {
    case 'send':
    case 'edit':
      return await bringTo(request, sending);
    case 'remove':
      return await remove(request, { jid: request.message.jid, farId: sending.farId });
    case 'choices':
      return await offer(request, sending);
    case 'file':
      return await sendFile(request, sending);
    case 'reaction':
      return await react(request, sending.emoji);
  }
}

/** Sends a part, or has the event that is there show it. */
async function bringTo(
  request: DeliveryRequest,
  sending: Extract<Sending, { kind: 'send' | 'edit' }>,
): Promise<void> {
  const { message, sent, attempts } = request;
  const { jid, id } = message;
  const { part, at } = sending;
  const text = JSON.stringify(part);
  const content = { msgtype: 'm.text', ...wordsOf(part) };
  if (sending.kind === 'send') {
    const farId = await attempt(request, { ...content, ...answering(message, at) }, at);
    sent.note({ id, at, jid, farId, text });
    attempts.end({ id, part: at });
    return;
  }
  const { farId } = sending;
  if (!sent.shows({ jid, farId, text })) {
    const edit = {
      msgtype: 'm.text',
      body: `* ${part.body}`,
      'm.new_content': content,
      'm.relates_to': { rel_type: 'm.replace', event_id: farId },
    };
    const state = createHash('sha256').update(text).digest('base64url');
    await post(request, 'm.room.message', edit, `${id} ${at} ${state}`);
  }
  sent.note({ id, at, jid, farId, text });
}

/** Sends a part that can be found again: noted before, and until its outcome is known. */
async function attempt(request: DeliveryRequest, content: object, at: number): Promise<string> {
  const { attempts, message } = request;
  const { id, jid } = message;
  attempts.begin({ id, part: at, jid, thread: null, text: JSON.stringify(content) });
  try {
    return await post(request, 'm.room.message', content, `${id} ${at}`);
  } catch (error) {
    const isPause = error instanceof MatrixFailure && error.waitMs !== null;
    if (isPause || isRefusal(error)) attempts.end({ id, part: at });
    throw error;
  }
}

const Sent = z.looseObject({ event_id: z.string() });

/**
 * Sends an event, encrypted into an encrypted room and nowhere else in the clear. The transaction makes it one event,
 * however often it is sent, also after a crash.
 */
async function post(
  request: DeliveryOptions & {
    readonly message: Pick<OutboundMessage, 'jid'>;
    readonly signal: AbortSignal;
  },
  type: string,
  content: object,
  transaction: string,
): Promise<string> {
  const { api, rooms, members, encryption, message, signal } = request;
  const roomId = roomIn(message.jid);
  let sent = { type, content: content as unknown };
  // Reactions are in the clear everywhere, as apps expect: servers count them.
  if (type !== 'm.reaction' && (await rooms.isEncrypted(roomId))) {
    const machine = await encryption.opened();
    const people = await members.of(roomId);
    const encrypted = await machine.encrypt(roomId, { type, content }, people);
    sent = { type: 'm.room.encrypted', content: encrypted };
  }
  const path = pathOf`/rooms/${roomId}/send/${sent.type}/${transactionOf(transaction)}`;
  const answer = await api.call('PUT', path, { body: sent.content, signal });
  return Sent.parse(answer).event_id;
}

/** Takes one event away. It stays where the server does not allow that. */
async function remove(
  { api, sent, signal }: Pick<DeliveryRequest, 'api' | 'sent' | 'signal'>,
  { jid, farId }: { readonly jid: string; readonly farId: string },
): Promise<void> {
  const path = pathOf`/rooms/${roomIn(jid)}/redact/${farId}/${transactionOf(`remove ${farId}`)}`;
  try {
    await api.call('PUT', path, { body: {}, signal });
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  sent.remove({ jid, farId });
}

/** Puts a number for each option below the question, to be pressed. */
async function offer(
  request: DeliveryRequest,
  { choices, at }: Extract<Sending, { kind: 'choices' }>,
): Promise<void> {
  const { message, sent, questions } = request;
  const farId = sent.partsOf(message.id, message.replaces)[at];
  if (farId === undefined) return;
  questions.ask(
    farId,
    choices.question,
    choices.options.map(({ word }) => word),
  );
  for (const key of keysOf(choices)) {
    try {
      await post(request, 'm.reaction', annotation(farId, key), `${message.id} ${at} ${key}`);
    } catch (error) {
      // The text says how to answer in words.
      if (!isRefusal(error)) throw error;
      return;
    }
  }
}

/** Sends a file. One that the server does not take is named in the chat: trying again would not help. */
async function sendFile(
  request: DeliveryRequest,
  { file, at }: Extract<Sending, { kind: 'file' }>,
): Promise<void> {
  const { message, rooms, signal } = request;
  const id = `${message.id} file ${at}`;
  try {
    const isEncrypted = await rooms.isEncrypted(roomIn(message.jid));
    const content = await uploadFile(request, file, { isEncrypted, signal });
    const inThread = message.thread === undefined ? {} : answering(message, at);
    await post(request, 'm.room.message', { ...content, ...inThread }, id);
  } catch (error) {
    const isTooLarge =
      error instanceof MatrixFailure && (error.errcode === 'M_TOO_LARGE' || error.status === 413);
    if (!isTooLarge) throw error;
    const body = `The file ${file.name} is not sent: it is larger than the homeserver takes.`;
    await post(request, 'm.room.message', { msgtype: 'm.text', body }, `${id} not`);
  }
}

/** Puts an emoji below a message. One that cannot be put there, because the message is gone, is sent. */
async function react(request: DeliveryRequest, emoji: string): Promise<void> {
  const { message } = request;
  const farId = message.reactsTo?.id ?? '';
  try {
    await post(request, 'm.reaction', annotation(farId, emoji), message.id);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const content = { msgtype: 'm.text', body: emoji };
    await post(request, 'm.room.message', content, `${message.id} said`);
  }
}

function annotation(farId: string, key: string): object {
  return { 'm.relates_to': { rel_type: 'm.annotation', event_id: farId, key } };
}

function wordsOf({ body, html }: Words): object {
  if (html === null) return { body };
  return { body, format: 'org.matrix.custom.html', formatted_body: html };
}

/** The first part shows what it answers; all of them are in the thread. */
function answering({ replyTo, thread }: OutboundMessage, at: number): object {
  const isReply = replyTo !== undefined && at === 0;
  const inReply = isReply ? { 'm.in_reply_to': { event_id: replyTo.id } } : {};
  if (thread === undefined) return isReply ? { 'm.relates_to': inReply } : {};
  return {
    'm.relates_to': {
      rel_type: 'm.thread',
      event_id: thread,
      'm.in_reply_to': { event_id: thread },
      ...inReply,
      is_falling_back: !isReply,
    },
  };
}

/** Names a request, so that the server takes it once. */
export function transactionOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, 32);
}

/** @throws MatrixError JID_INVALID */
function roomIn(jid: string): string {
  const room = roomIdOf(jid);
  if (room === null) throw new MatrixError('JID_INVALID', `${jid} is not a room on Matrix.`);
  return room;
}
