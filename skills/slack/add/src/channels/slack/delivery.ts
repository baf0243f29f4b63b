import type * as webApi from '@slack/web-api';
import type {
  ChannelCapabilities,
  ChannelClock,
  OutboundDraft,
  OutboundFile,
  OutboundMessage,
} from '../channel.ts';
import { findLost, type LostParts } from '../kit/attempts.ts';
import { draftText } from '../kit/draft-text.ts';
import { editedParts } from '../kit/edited-parts.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { findPosted, markOf } from './already-there.ts';
import type { Attempts } from './attempts.ts';
import { emojiName } from './emoji.ts';
import { explainSendFailure, readFailure, SlackError } from './failure.ts';
import { formatParts } from './format.ts';
import { channelIdOf, stampOf } from './jid.ts';
import { BUTTONS, type SlackPart, withButtons } from './press.ts';
import { uploadFile } from './upload.ts';

/** Abilities of an app. Slack shows which message is answered by its thread. */
export const CAPABILITIES: ChannelCapabilities = {
  attachments: { maxBytes: 100_000_000 },
  choices: BUTTONS,
  replyTo: true,
  thread: true,
  reactions: true,
  edits: true,
  // Slack takes some fifty changes a minute from an app, of all its channels together.
  drafts: { everyMs: 1_500, everyMsInGroup: 3_000 },
};

/** One step of those that a message becomes. */
export type Sending =
  | { readonly kind: 'send'; readonly part: SlackPart; readonly at: number }
  | { readonly kind: 'edit'; readonly part: SlackPart; readonly at: number; readonly farId: string }
  | { readonly kind: 'file'; readonly file: OutboundFile; readonly at: number }
  | { readonly kind: 'remove'; readonly farId: string }
  | { readonly kind: 'reaction'; readonly emoji: string; readonly ts: string };

export type DeliveryOptions = {
  readonly web: webApi.WebClient;
  readonly clock: ChannelClock;
  readonly sent: SentMessages;
  readonly attempts: Attempts;
};

/** Sends messages through an app. What fails is a SlackError, or an UnknownDelivery. */
export function createDelivery({
  web,
  clock,
  sent,
  attempts,
}: DeliveryOptions): PartDelivery<Sending> {
  return new PartDelivery<Sending>({
    prepare: (message) => findLost({ sent, attempts, find: finder(web, message) }, message),
    partsOf: (message) => {
      channelIn(message.jid);
      return sendingsOf(message, sent.partsOf(message.id, message.replaces));
    },
    send: (message, sending, signal) => carryOut({ web, message, signal, sent, attempts }, sending),
    pauseMs: (error) => {
      const failure = readFailure(error);
      return failure.kind === 'rate-limited' ? failure.waitMs : null;
    },
    pause: clock.pause,
    explain: (error) => (error instanceof SlackError ? error : explainSendFailure(error)),
  });
}

/** Makes a message of a draft: the same one at each step, with what there is by then. */
export function messageOf({ activity, replyTo: _, ...draft }: OutboundDraft): OutboundMessage {
  return { ...draft, text: draftText({ text: draft.text, activity }) };
}

/** Takes a message away, all parts of it. @throws SlackError, UnknownDelivery */
export async function takeBack(
  { web, sent, attempts }: Omit<DeliveryOptions, 'clock'>,
  message: Pick<OutboundMessage, 'jid' | 'id'>,
): Promise<void> {
  try {
    await findLost({ sent, attempts, find: finder(web, message) }, message);
    for (const farId of sent.partsOf(message.id)) {
      if (farId !== undefined) await remove({ web, sent, message }, farId);
    }
  } catch (error) {
    throw error instanceof SlackError ? error : explainSendFailure(error);
  }
}

/** Looks for a part in the conversation of its message. What the look does not find is sent again. */
function finder(web: webApi.WebClient, { jid }: Pick<OutboundMessage, 'jid'>): LostParts['find'] {
  return async ({ id, part, thread, text, begunAt: since }) => {
    const farId = await findPosted(web, { id, part }, { channel: channelIn(jid), thread, since });
    return farId === null ? null : { farId, text };
  };
}

/** @param known the time stamps of the messages that are there of it, or of what it replaces */
function sendingsOf(
  { text, choices, attachments = [], reactsTo }: OutboundMessage,
  known: readonly (string | undefined)[],
): readonly Sending[] {
  if (reactsTo !== undefined)
    return [{ kind: 'reaction', emoji: text.trim(), ts: stampOf(reactsTo.id) }];
  const steps = editedParts(withButtons(formatParts(text), choices), known);
  const files = attachments.map((file, at) => ({ kind: 'file', file, at }) as const);
  const isNeedless = ({ kind }: Sending) => kind === 'remove';
  return [...steps.filter((step) => !isNeedless(step)), ...files, ...steps.filter(isNeedless)];
}

type DeliveryRequest = {
  readonly web: webApi.WebClient;
  readonly message: OutboundMessage;
  readonly signal: AbortSignal;
  readonly sent: SentMessages;
  readonly attempts: Attempts;
};

async function carryOut(request: DeliveryRequest, sending: Sending): Promise<void> {
  switch (sending.kind) {
    case 'send':
    case 'edit':
      return await bringTo(request, sending);
    case 'remove':
      return await remove(request, sending.farId);
    case 'file':
      return await sendFile(request, sending);
    case 'reaction':
      return await react(request, sending);
  }
}

/** Sends a part, or has the message that is there show it. */
async function bringTo(
  request: DeliveryRequest,
  sending: Extract<Sending, { kind: 'send' | 'edit' }>,
): Promise<void> {
  const { message, sent, attempts } = request;
  const { jid } = message;
  const { part, at } = sending;
  const text = JSON.stringify(part);
  const shown = sending.kind === 'edit' && sent.shows({ jid, farId: sending.farId, text });
  const farId =
    sending.kind === 'send'
      ? await attempt(request, part, at)
      : shown
        ? sending.farId
        : await edit(request, part, sending.farId);
  if (farId !== null) sent.note({ id: message.id, at, jid, farId, text });
  if (sending.kind === 'send') attempts.end({ id: message.id, part: at });
}

/** Takes one message away. It stays where Slack does not allow that, as by a rule of the workspace. */
async function remove(
  {
    web,
    message: { jid },
    sent,
  }: Pick<DeliveryRequest, 'web' | 'sent'> & { readonly message: { readonly jid: string } },
  farId: string,
): Promise<void> {
  try {
    await web.chat.delete({ channel: channelIn(jid), ts: farId });
  } catch (error) {
    if (refusalIn(error) === null) throw error;
  }
  sent.remove({ jid, farId });
}

/** Posts a part that can be found again: noted before, and until its outcome is known. */
async function attempt(
  request: DeliveryRequest,
  part: SlackPart,
  at: number,
): Promise<string | null> {
  const { message, attempts } = request;
  const { id, jid } = message;
  attempts.begin({ id, part: at, jid, thread: threadOf(message), text: JSON.stringify(part) });
  try {
    return await post(request, part, at);
  } catch (error) {
    const failure = readFailure(error);
    if (failure.kind !== 'unreachable' || !failure.wasSent) attempts.end({ id, part: at });
    throw error;
  }
}

/** @param at the number of the part, by which it is found again; null for what is not looked for */
async function post(
  { web, message }: DeliveryRequest,
  { text, blocks }: SlackPart,
  at: number | null = null,
): Promise<string | null> {
  // A preview would make Slack fetch an address that the model chose.
  const quietly = { unfurl_links: false, unfurl_media: false };
  const shown = blocks === undefined ? { text } : { text, blocks: [...blocks] };
  const place = placeOf(message, at === null || at === 0);
  const mark = at === null ? {} : { metadata: markOf({ id: message.id, part: at }) };
  const channel = channelIn(message.jid);
  const { ts } = await web.chat.postMessage({
    channel,
    ...shown,
    ...quietly,
    ...place,
    ...mark,
  });
  return ts ?? null;
}

/**
 * Returns the thread of a message. Where others have talked on in the channel, an answer begins one at the message
 * that it answers, and is shown in the channel as well. A draft stands below that message in any case.
 */
function placeOf(message: OutboundMessage, isFirst: boolean) {
  const thread_ts = threadOf(message);
  if (thread_ts === null) return {};
  return message.thread === undefined && isFirst
    ? { thread_ts, reply_broadcast: true }
    : { thread_ts };
}

function threadOf({ thread, replyTo }: OutboundMessage): string | null {
  return thread ?? (replyTo === undefined ? null : stampOf(replyTo.id));
}

/** Edits a message. One that cannot be edited any more, such as a deleted one, is sent once more. */
async function edit(request: DeliveryRequest, part: SlackPart, ts: string): Promise<string | null> {
  const { web, message } = request;
  const { text, blocks } = part;
  // Without blocks Slack leaves those that are there.
  const shown = { text, blocks: [...(blocks ?? [])] };
  try {
    await web.chat.update({ channel: channelIn(message.jid), ts, ...shown });
    return ts;
  } catch (error) {
    if (refusalIn(error) === null) throw error;
    return await post(request, part);
  }
}

/**
 * Sends a file that is not there from an earlier attempt. An app without the scope says so in the chat: trying again
 * would not help.
 */
async function sendFile(
  request: DeliveryRequest,
  { file, at: part }: Extract<Sending, { kind: 'file' }>,
): Promise<void> {
  const { web, message, signal, attempts } = request;
  const { id, jid, thread } = message;
  const channel = channelIn(jid);
  const earlier = attempts.uploadOf({ id, part });
  if (earlier !== null) {
    const { fileId, begunAt: since } = earlier;
    const found = await findPosted(web, { fileId }, { channel, thread: thread ?? null, since });
    if (found !== null) return;
  }
  const onUploaded = (fileId: string) => attempts.beginUpload({ id, part, jid, fileId });
  try {
    await uploadFile(web, file, { channel, thread, onUploaded, signal });
  } catch (error) {
    if (refusalIn(error) !== 'missing_scope') throw error;
    const text = `The file ${file.name} is not sent: add the scope files:write to the app, on its page OAuth & Permissions, and install it again.`;
    for (const part of formatParts(text)) await post(request, { text: part });
  }
}

/** Puts an emoji below a message. One that Slack does not take, or the app may not put there, is sent as a message. */
async function react(
  request: DeliveryRequest,
  { emoji, ts: timestamp }: { readonly emoji: string; readonly ts: string },
): Promise<void> {
  const { web, message } = request;
  const name = emojiName(emoji);
  try {
    const channel = channelIn(message.jid);
    if (name === null) await post(request, { text: emoji });
    else await web.reactions.add({ channel, name, timestamp });
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal === null || name === null) throw error;
    if (refusal !== 'already_reacted') await post(request, { text: emoji });
  }
}

/** Returns the word with which Slack refuses a request; null for another failure. */
function refusalIn(error: unknown): string | null {
  if (error instanceof SlackError) return null;
  const failure = readFailure(error);
  return failure.kind === 'refused' ? failure.error : null;
}

/** @throws SlackError JID_INVALID */
function channelIn(jid: string): string {
  const channel = channelIdOf(jid);
  if (channel === null) throw new SlackError('JID_INVALID', `${jid} is not a channel of Slack.`);
  return channel;
}
