import type { webApi } from '@slack/bolt';
import type {
  ChannelCapabilities,
  ChannelClock,
  OutboundFile,
  OutboundMessage,
} from '../channel.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import { emojiName } from './emoji.ts';
import { explainSendFailure, readFailure, SlackError } from './failure.ts';
import { formatParts } from './format.ts';
import { channelIdOf } from './jid.ts';
import { BUTTONS, type SlackPart, withButtons } from './press.ts';
import { uploadFile } from './upload.ts';

/** Abilities of an app. Slack shows no message as answered, but by its thread. */
export const CAPABILITIES: ChannelCapabilities = {
  attachments: { maxBytes: 100_000_000 },
  choices: BUTTONS,
  thread: true,
  reactions: true,
  edits: true,
};

/** One step of those that a message becomes. */
export type Sending =
  | { readonly kind: 'text'; readonly part: SlackPart; readonly isFirst: boolean }
  | { readonly kind: 'file'; readonly file: OutboundFile }
  | { readonly kind: 'edit'; readonly text: string; readonly ts: string }
  | { readonly kind: 'reaction'; readonly emoji: string; readonly ts: string };

/** Messages that may still be edited: those of a few minutes. */
const KEPT_IDS = 200;

/** Sends messages through an app. What fails is a SlackError, or an UnknownDelivery. */
export function createDelivery(web: webApi.WebClient, clock: ChannelClock): PartDelivery<Sending> {
  const sent = new Map<string, string>();

  function remember({ id }: OutboundMessage, ts: string): void {
    const [oldest] = sent.keys();
    if (sent.size >= KEPT_IDS && oldest !== undefined) sent.delete(oldest);
    sent.set(id, ts);
  }

  return new PartDelivery<Sending>({
    partsOf: (message) => {
      channelIn(message.jid);
      return sendingsOf(message, sent.get(message.replaces ?? '') ?? null);
    },
    async send(message, sending, signal) {
      const ts = await carryOut({ web, message, signal }, sending);
      if (ts !== null) remember(message, ts);
    },
    pauseMs: (error) => {
      const failure = readFailure(error);
      return failure.kind === 'rate-limited' ? failure.waitMs : null;
    },
    pause: clock.pause,
    explain: (error) => (error instanceof SlackError ? error : explainSendFailure(error)),
  });
}

/** @param earlier the time stamp of the message that this one replaces; null for none that is known */
function sendingsOf(
  { text, choices, attachments = [], reactsTo }: OutboundMessage,
  earlier: string | null,
): readonly Sending[] {
  if (reactsTo !== undefined) return [{ kind: 'reaction', emoji: text.trim(), ts: reactsTo.id }];
  const parts = withButtons(formatParts(text), choices);
  const [only, ...more] = parts;
  if (earlier !== null && only?.blocks === undefined && only !== undefined && more.length === 0) {
    return [{ kind: 'edit', text: only.text, ts: earlier }];
  }
  return [
    ...parts.map((part, at) => ({ kind: 'text', part, isFirst: at === 0 }) as const),
    ...attachments.map((file) => ({ kind: 'file', file }) as const),
  ];
}

type Request = {
  readonly web: webApi.WebClient;
  readonly message: OutboundMessage;
  readonly signal: AbortSignal;
};

/** @returns the time stamp of the message by which this one can be edited; null for another */
async function carryOut(request: Request, sending: Sending): Promise<string | null> {
  switch (sending.kind) {
    case 'text': {
      const ts = await post(request, sending.part);
      return sending.isFirst ? ts : null;
    }
    case 'edit':
      return await edit(request, sending);
    case 'file':
      await sendFile(request, sending.file);
      return null;
    case 'reaction':
      await react(request, sending);
      return null;
  }
}

async function post({ web, message }: Request, { text, blocks }: SlackPart) {
  // A preview would make Slack fetch an address that the model chose.
  const quietly = { unfurl_links: false, unfurl_media: false };
  const shown = blocks === undefined ? { text } : { text, blocks: [...blocks] };
  const place = message.thread === undefined ? {} : { thread_ts: message.thread };
  const channel = channelIn(message.jid);
  const { ts } = await web.chat.postMessage({ channel, ...shown, ...quietly, ...place });
  return ts ?? null;
}

/** Edits a message. One that cannot be edited any more, such as a deleted one, is sent once more. */
async function edit(
  request: Request,
  { text, ts }: { readonly text: string; readonly ts: string },
): Promise<string | null> {
  const { web, message } = request;
  try {
    await web.chat.update({ channel: channelIn(message.jid), ts, text });
    return ts;
  } catch (error) {
    if (refusalIn(error) === null) throw error;
    return await post(request, { text });
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
