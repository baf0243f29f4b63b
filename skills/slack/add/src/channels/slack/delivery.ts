import type * as webApi from '@slack/web-api';
import type {
  ChannelCapabilities,
  ChannelClock,
  OutboundDraft,
  OutboundFile,
  OutboundMessage,
} from '../channel.ts';
import { causeInWords } from '../kit/cause.ts';
import { draftText } from '../kit/draft-text.ts';
import { editedParts } from '../kit/edited-parts.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { findPosted, markOf } from './already-there.ts';
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
  | { readonly kind: 'file'; readonly file: OutboundFile }
  | { readonly kind: 'remove'; readonly farId: string }
  | { readonly kind: 'reaction'; readonly emoji: string; readonly ts: string };

export type DeliveryOptions = {
  readonly web: webApi.WebClient;
  readonly clock: ChannelClock;
  readonly sent: SentMessages;
};

/** Sends messages through an app. What fails is a SlackError, or an UnknownDelivery. */
export function createDelivery({ web, clock, sent }: DeliveryOptions): PartDelivery<Sending> {
  return new PartDelivery<Sending>({
    partsOf: (message) => {
      channelIn(message.jid);
      return sendingsOf(message, sent.partsOf(message.id, message.replaces));
    },
    send: (message, sending, signal) => carryOut({ web, message, signal, sent }, sending),
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
  { web, sent }: Pick<DeliveryOptions, 'web' | 'sent'>,
  message: Pick<OutboundMessage, 'jid' | 'id'>,
): Promise<void> {
  try {
    for (const farId of sent.partsOf(message.id)) {
      if (farId !== undefined) await remove({ web, sent, message }, farId);
    }
  } catch (error) {
    throw error instanceof SlackError ? error : explainSendFailure(error);
  }
}

/** @param known the time stamps of the messages that are there of it, or of what it replaces */
function sendingsOf(
  { text, choices, attachments = [], reactsTo }: OutboundMessage,
  known: readonly (string | undefined)[],
): readonly Sending[] {
  if (reactsTo !== undefined)
    return [{ kind: 'reaction', emoji: text.trim(), ts: stampOf(reactsTo.id) }];
  const steps = editedParts(withButtons(formatParts(text), choices), known);
  const files = attachments.map((file) => ({ kind: 'file', file }) as const);
  const isNeedless = ({ kind }: Sending) => kind === 'remove';
  return [...steps.filter((step) => !isNeedless(step)), ...files, ...steps.filter(isNeedless)];
}

type Request = {
  readonly web: webApi.WebClient;
  readonly message: OutboundMessage;
  readonly signal: AbortSignal;
  readonly sent: SentMessages;
};

async function carryOut(request: Request, sending: Sending): Promise<void> {
  switch (sending.kind) {
    case 'send':
    case 'edit':
      return await bringTo(request, sending);
    case 'remove':
      return await remove(request, sending.farId);
    case 'file':
      return await sendFile(request, sending.file);
    case 'reaction':
      return await react(request, sending);
  }
}

/** Sends a part, or has the message that is there show it. */
async function bringTo(
  request: Request,
  sending: Extract<Sending, { kind: 'send' | 'edit' }>,
): Promise<void> {
  const { message, sent } = request;
  const { jid } = message;
  const { part, at } = sending;
  const text = JSON.stringify(part);
  const shown = sending.kind === 'edit' && sent.shows({ jid, farId: sending.farId, text });
  const farId =
    sending.kind === 'send'
      ? ((await postedBefore(request, at)) ?? (await post(request, part, at)))
      : shown
        ? sending.farId
        : await edit(request, part, sending.farId);
  if (farId !== null) sent.note({ id: message.id, at, jid, farId, text });
}

/** Takes one message away. It stays where Slack does not allow that, as by a rule of the workspace. */
async function remove(
  {
    web,
    message: { jid },
    sent,
  }: Pick<Request, 'web' | 'sent'> & { readonly message: { readonly jid: string } },
  farId: string,
): Promise<void> {
  try {
    await web.chat.delete({ channel: channelIn(jid), ts: farId });
  } catch (error) {
    if (refusalIn(error) === null) throw error;
  }
  sent.remove({ jid, farId });
}

/**
 * Looks for what an attempt of unknown outcome has left. An app that may not look posts it again.
 *
 * @throws SlackError where Slack does not answer: nothing was sent by this attempt
 */
async function postedBefore({ web, message }: Request, at: number): Promise<string | null> {
  const { id, jid, mayBeThere, replyTo } = message;
  if (mayBeThere === undefined) return null;
  const answered = replyTo === undefined ? null : stampOf(replyTo.id);
  const thread = message.thread ?? answered;
  try {
    const place = { channel: channelIn(jid), thread, since: mayBeThere.since };
    return await findPosted(web, { id, part: at }, place);
  } catch (error) {
    const failure = readFailure(error);
    if (failure.kind === 'refused') return null;
    if (failure.kind === 'rate-limited') throw error;
    const cause = causeInWords(failure.cause);
    throw new SlackError('UNREACHABLE', `Slack cannot be reached (${cause}).`);
  }
}

/** @param at the number of the part, by which it is found again; null for what is not looked for */
async function post(
  { web, message }: Request,
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
function placeOf({ thread, replyTo }: OutboundMessage, isFirst: boolean) {
  if (thread !== undefined) return { thread_ts: thread };
  if (replyTo === undefined) return {};
  return { thread_ts: stampOf(replyTo.id), ...(isFirst ? { reply_broadcast: true } : {}) };
}

/** Edits a message. One that cannot be edited any more, such as a deleted one, is sent once more. */
async function edit(request: Request, part: SlackPart, ts: string): Promise<string | null> {
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

/** An app without the scope says so in the chat: trying again would not help. */
async function sendFile(request: Request, file: OutboundFile): Promise<void> {
  const { web, message, signal } = request;
  const place = { channel: channelIn(message.jid), thread: message.thread, signal };
  try {
    await uploadFile(web, file, place);
  } catch (error) {
    if (refusalIn(error) !== 'missing_scope') throw error;
    const text = `The file ${file.name} is not sent: add the scope files:write to the app, on its page OAuth & Permissions, and install it again.`;
    for (const part of formatParts(text)) await post(request, { text: part });
  }
}

/** Puts an emoji below a message. One that Slack does not take, or the app may not put there, is sent as a message. */
async function react(
  request: Request,
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
