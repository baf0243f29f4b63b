import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { REST } from '@discordjs/rest';
import { z } from 'zod';
import type { ChannelClock, OutboundFile, OutboundMessage } from '../channel.ts';
import { type Attempts, findLost, type LostParts } from '../kit/attempts.ts';
import { editedParts } from '../kit/edited-parts.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { DiscordError } from './error.ts';
import { explainSendFailure, pauseMsIn, refusalCode } from './failure.ts';
import { channelIdOf, farIdOf, farMessageIn } from './jid.ts';
import { formatParts } from './markdown.ts';
import { buttonsOf } from './press.ts';
import type { OpenInteractions } from './records/open-interactions.ts';

/** The text of one message of Discord's; buttons are below the last one. */
type Words = { readonly content: string; readonly components: readonly object[] };

/** One request of those that a message becomes. */
export type Sending =
  | { readonly kind: 'send'; readonly part: Words; readonly at: number }
  | { readonly kind: 'edit'; readonly part: Words; readonly at: number; readonly farId: string }
  | { readonly kind: 'file'; readonly file: OutboundFile; readonly at: number }
  | { readonly kind: 'remove'; readonly farId: string }
  | { readonly kind: 'reaction'; readonly emoji: string };

export type DeliveryOptions = {
  readonly api: REST;
  readonly clock: ChannelClock;
  readonly sent: SentMessages;
  readonly attempts: Attempts;
  readonly interactions: OpenInteractions;
};

/** Sends messages through a bot. What fails is a DiscordError. */
export function createDelivery(options: DeliveryOptions): PartDelivery<Sending> {
  const { clock, sent } = options;
  const delivery: PartDelivery<Sending> = new PartDelivery<Sending>({
    prepare: (message) =>
      findLost({ ...options, find: finder(options, message, delivery.signal) }, message),
    partsOf: (message) => {
      channelIn(message.jid);
      return sendingsOf(message, sent.partsOf(message.id, message.replaces));
    },
    send: (message, sending, signal) => carryOut({ ...options, message, signal }, sending),
    pauseMs: pauseMsIn,
    pause: (ms, signal) => clock.pause(ms, signal),
    explain: explainSendFailure,
  });
  return delivery;
}

/** Takes a message away, all parts of it. @throws DiscordError */
export async function takeBack(
  options: Pick<DeliveryOptions, 'api' | 'clock' | 'sent' | 'attempts'>,
  { jid, id }: Pick<OutboundMessage, 'jid' | 'id'>,
  signal: AbortSignal,
): Promise<void> {
  const { api, sent } = options;
  try {
    await findLost({ ...options, find: finder(options, { jid }, signal) }, { jid, id });
    for (const farId of sent.partsOf(id)) {
      if (farId !== undefined) await remove({ api, sent, signal }, { jid, farId });
    }
  } catch (error) {
    throw explainSendFailure(error);
  }
}

/** For so long Discord surely knows a nonce. */
const NONCE_MS = 120_000;

const Body = z.looseObject({ content: z.string(), components: z.array(z.looseObject({})) });

/**
 * Posts a part once more as it was, under its nonce: Discord answers with the message that is there, if it is. Of one
 * from long ago nothing can be learnt.
 */
function finder(
  { api, clock, attempts }: Pick<DeliveryOptions, 'api' | 'clock' | 'attempts'>,
  { jid }: Pick<OutboundMessage, 'jid'>,
  signal: AbortSignal,
): LostParts['find'] {
  return async ({ id, part, thread, text, begunAt }) => {
    const isOld = Math.abs(clock.now() - begunAt) > NONCE_MS;
    try {
      if (!isOld) {
        const channelId = thread ?? channelIn(jid);
        const body = Body.parse(JSON.parse(text));
        const { content, components } = body;
        const farId = await postBody(api, { channelId, body, signal });
        return { farId, text: JSON.stringify({ content, components }) };
      }
    } catch (error) {
      if (refusalCode(error) === null) throw error;
    }
    attempts.end({ id, part });
    return null;
  };
}

/** @param known the places of the messages that are there of it, or of what it replaces */
function sendingsOf(
  { text, choices, attachments = [], reactsTo }: OutboundMessage,
  known: readonly (string | undefined)[],
): readonly Sending[] {
  if (reactsTo !== undefined) return [{ kind: 'reaction', emoji: text.trim() }];
  const parts = formatParts(text);
  const words = parts.map((content, at) => {
    const isLast = at === parts.length - 1;
    return { content, components: isLast && choices !== undefined ? buttonsOf(choices) : [] };
  });
  const steps = editedParts(words, known);
  const files = attachments.map((file, at) => ({ kind: 'file', file, at }) as const);
  const isNeedless = ({ kind }: Sending) => kind === 'remove';
  return [...steps.filter((step) => !isNeedless(step)), ...files, ...steps.filter(isNeedless)];
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
    case 'file':
      return await sendFile(request, sending);
    case 'reaction':
      return await react(request, sending.emoji);
  }
}

/** Sends a part, or has the message that is there show it. */
async function bringTo(
  request: DeliveryRequest,
  sending: Extract<Sending, { kind: 'send' | 'edit' }>,
): Promise<void> {
  const { message, sent } = request;
  const { jid, id } = message;
  const { part, at } = sending;
  const text = JSON.stringify(part);
  const known = sending.kind === 'edit' ? sending.farId : null;
  const isShown = known !== null && sent.shows({ jid, farId: known, text });
  const farId =
    known === null
      ? await begin(request, part, at)
      : isShown
        ? known
        : await edit(request, part, { farId: known, at });
  sent.note({ id, at, jid, farId, text });
  if (known === null) request.attempts.end({ id, part: at });
}

const Sent = z.looseObject({ id: z.string(), channel_id: z.string() });

/** A preview would make Discord fetch an address that the model chose. */
const QUIETLY = { allowed_mentions: { parse: [], replied_user: true }, flags: 1 << 2 };

/** Sends a part: the first one of an answer to a slash command in the place that Discord keeps for it. */
async function begin(request: DeliveryRequest, part: Words, at: number): Promise<string> {
  const { api, message, signal, interactions } = request;
  const open = at === 0 ? interactions.of(message.jid, message.answersTo ?? []) : null;
  if (open === null) return await attempt(request, part, at);
  const path = `${open.address}/messages/@original` as const;
  try {
    const body = { ...part, ...QUIETLY };
    const answer = Sent.parse(await api.patch(path, { body, auth: false, signal }));
    interactions.close(message.jid, open.id);
    return farIdOf({ channelId: answer.channel_id, messageId: answer.id });
  } catch (error) {
    // Its time is over, or somebody has taken it away.
    if (refusalCode(error) === null) throw error;
    interactions.close(message.jid, open.id);
    return await attempt(request, part, at);
  }
}

/** Posts a part that can be found again: noted before, and until its outcome is known. */
async function attempt(request: DeliveryRequest, part: Words, at: number): Promise<string> {
  const { message, attempts } = request;
  const { id, jid, thread = null } = message;
  const text = JSON.stringify(bodyOf(message, part, at));
  attempts.begin({ id, part: at, jid, thread, text });
  try {
    return await post(request, part, at);
  } catch (error) {
    const mayBeThere = refusalCode(error) === null && pauseMsIn(error) === null;
    if (!mayBeThere) attempts.end({ id, part: at });
    throw error;
  }
}

/** Posts a message. The nonce makes it one message, however often it is sent within some minutes. */
async function post(request: DeliveryRequest, part: Words, at: number): Promise<string> {
  const { api, message, signal } = request;
  const body = bodyOf(message, part, at);
  return await postBody(api, { channelId: placeOf(message), body, signal });
}

function bodyOf(message: OutboundMessage, part: Words, at: number): object {
  const nonce = nonceOf(`${message.id} ${at}`);
  return { ...part, ...QUIETLY, ...answering(message, at), ...nonce };
}

async function postBody(
  api: REST,
  {
    channelId,
    body,
    signal,
  }: { readonly channelId: string; readonly body: object; readonly signal: AbortSignal },
): Promise<string> {
  const answer = await api.post(`/channels/${channelId}/messages`, { body, signal });
  return farIdOf({ channelId, messageId: Sent.parse(answer).id });
}

/** Edits a message. One that cannot be edited any more, such as a deleted one, is sent once more. */
async function edit(
  request: DeliveryRequest,
  part: Words,
  { farId, at }: { readonly farId: string; readonly at: number },
): Promise<string> {
  const { api, signal } = request;
  const { channelId, messageId } = farMessageIn(farId);
  try {
    const body = { ...part, ...QUIETLY };
    await api.patch(`/channels/${channelId}/messages/${messageId}`, { body, signal });
    return farId;
  } catch (error) {
    if (refusalCode(error) === null) throw error;
    // Not under the nonce of the one that was deleted.
    const message = { ...request.message, id: `${request.message.id} ${farId}` };
    return await post({ ...request, message }, part, at);
  }
}

/** Takes one message away. It stays where Discord does not allow that. */
async function remove(
  { api, sent, signal }: Pick<DeliveryRequest, 'api' | 'sent' | 'signal'>,
  { jid, farId }: { readonly jid: string; readonly farId: string },
): Promise<void> {
  const { channelId, messageId } = farMessageIn(farId);
  try {
    await api.delete(`/channels/${channelId}/messages/${messageId}`, { signal });
  } catch (error) {
    if (refusalCode(error) === null) throw error;
  }
  sent.remove({ jid, farId });
}

/** Discord's numbers for a file that is too large, and for a permission that lacks. */
const NOT_SENT: Readonly<Record<number, string>> = {
  40005: 'it is larger than this server takes',
  50013: 'give the bot the permission Attach Files here',
};

/** Sends a file. One that Discord does not take is named in the chat: trying again would not help. */
async function sendFile(
  request: DeliveryRequest,
  { file, at }: Extract<Sending, { kind: 'file' }>,
): Promise<void> {
  const { api, message, signal } = request;
  const files = [{ name: file.name, data: await readFile(file.path) }];
  const body = { ...answering(message, at), ...nonceOf(`${message.id} file ${at}`) };
  try {
    await api.post(`/channels/${placeOf(message)}/messages`, { body, files, signal });
  } catch (error) {
    const reason = NOT_SENT[refusalCode(error) ?? 0];
    if (reason === undefined) throw error;
    const words = { content: `The file ${file.name} is not sent: ${reason}.`, components: [] };
    await post({ ...request, message: { ...message, id: `${message.id} not ${at}` } }, words, at);
  }
}

/** Puts an emoji below a message. One that Discord does not take, or the bot may not put there, is sent. */
async function react(request: DeliveryRequest, emoji: string): Promise<void> {
  const { api, message, signal } = request;
  const { reactsTo: replyTo, ...others } = message;
  const messageId = replyTo?.id.replace(/-\d+$/, '') ?? '';
  const path = `/channels/${placeOf(message)}/messages/${messageId}/reactions` as const;
  try {
    await api.put(`${path}/${encodeURIComponent(emoji)}/@me`, { signal });
  } catch (error) {
    if (refusalCode(error) === null) throw error;
    const said = { ...others, ...(replyTo === undefined ? {} : { replyTo }) };
    await post({ ...request, message: said }, { content: emoji, components: [] }, 0);
  }
}

/** A thread is a channel of its own. */
function placeOf({ thread, jid }: Pick<OutboundMessage, 'thread' | 'jid'>): string {
  return thread ?? channelIn(jid);
}

/** The first part shows what it answers, which may have been deleted since. */
function answering({ replyTo }: OutboundMessage, at: number): object {
  if (replyTo === undefined || at !== 0) return {};
  const messageId = replyTo.id.replace(/-\d+$/, '');
  return { message_reference: { message_id: messageId, fail_if_not_exists: false } };
}

/** Discord takes nonces of 25 characters. */
function nonceOf(id: string): { readonly nonce: string; readonly enforce_nonce: true } {
  const nonce = createHash('sha256').update(id).digest('base64url').slice(0, 25);
  return { nonce, enforce_nonce: true };
}

/** @throws DiscordError JID_INVALID */
function channelIn(jid: string): string {
  const channel = channelIdOf(jid);
  if (channel === null) throw new DiscordError('JID_INVALID', `${jid} is not a chat on Discord.`);
  return channel;
}
