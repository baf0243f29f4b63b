import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type {
  ChannelCapabilities,
  ChannelContext,
  OutboundFile,
  OutboundMessage,
} from '../channel.ts';
import { kindOf } from '../kit/file-kind.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import { explainSendFailure, failuresIn, pauseMsIn, SignalError } from './failure.ts';
import { messageIn, receiverIn } from './jid.ts';
import type { Records } from './records.ts';
import { type CallRpc, RPC_CODES, RpcError } from './rpc.ts';
import { type StyledText, styledParts } from './styles.ts';

/** Abilities of Signal. signal-cli takes 20,000,000 characters of base64 at once, which is a file of 15 MB. */
export const CAPABILITIES: ChannelCapabilities = {
  attachments: { maxBytes: 14_000_000 },
  replyTo: true,
  reactions: true,
  // Apps take ten edits of a message: enough for lines of progress, too few for an answer while it is written.
  edits: true,
};

const MOST_EDITS = 9;

/** One command of those that a message becomes. */
export type Sending =
  | { readonly kind: 'send'; readonly part: StyledText; readonly at: number }
  | {
      readonly kind: 'edit';
      readonly part: StyledText;
      readonly at: number;
      readonly farId: string;
    }
  | { readonly kind: 'file'; readonly file: OutboundFile; readonly at: number }
  | { readonly kind: 'remove'; readonly farId: string }
  | { readonly kind: 'reaction'; readonly emoji: string };

export type DeliveryOptions = Pick<ChannelContext, 'clock' | 'log'> & {
  readonly account: string;
  readonly call: CallRpc;
  readonly records: Records;
  /** @throws SignalError NOT_CONNECTED */
  readonly checkConnected: () => void;
};

/** Sends messages through signal-cli, which takes no ids of ours: an answer that is lost leaves it unknown. */
export function createDelivery(options: DeliveryOptions): PartDelivery<Sending> {
  const { clock, records, checkConnected } = options;
  return new PartDelivery<Sending>({
    partsOf(message) {
      checkConnected();
      return sendingsOf(message, records);
    },
    send: (message, sending, signal) => carryOut({ ...options, message, signal }, sending),
    pauseMs: pauseMsIn,
    pause: (ms, signal) => clock.pause(ms, signal),
    explain: explainSendFailure,
  });
}

function sendingsOf(message: OutboundMessage, { sent }: Records): readonly Sending[] {
  const { text, replaces, attachments = [], reactsTo } = message;
  if (reactsTo !== undefined) return [{ kind: 'reaction', emoji: text.trim() }];
  const earlier = replaces === undefined ? [] : sent.partsOf(replaces);
  const words = styledParts(text);
  const texts = words.map((part, at): Sending => {
    const farId = earlier[at];
    return farId === undefined ? { kind: 'send', at, part } : { kind: 'edit', at, part, farId };
  });
  const files = attachments.map((file, index) => {
    return { kind: 'file', file, at: words.length + index } as const;
  });
  const needless = earlier.slice(words.length).flatMap((farId): readonly Sending[] => {
    return farId === undefined ? [] : [{ kind: 'remove', farId }];
  });
  return [...texts, ...files, ...needless];
}

type DeliveryRequest = DeliveryOptions & {
  readonly message: OutboundMessage;
  readonly signal: AbortSignal;
};

/** A part that is there already, of an earlier attempt, is left out: also where that was before a crash. */
async function carryOut(request: DeliveryRequest, sending: Sending): Promise<void> {
  const { records, message } = request;
  if ('at' in sending && records.sent.partsOf(message.id)[sending.at] !== undefined) return;
  switch (sending.kind) {
    case 'send':
      return await sendText(request, sending);
    case 'edit':
      return await edit(request, sending);
    case 'file':
      return await sendFile(request, sending);
    case 'remove':
      return await remove(request, sending.farId);
    case 'reaction':
      return await react(request, sending.emoji);
  }
}

const Sent = z.looseObject({ timestamp: z.number() });

async function sendText(
  request: DeliveryRequest,
  { part, at }: { readonly part: StyledText; readonly at: number },
): Promise<void> {
  const farId = await send(request, { ...worded(part), ...quotation(request.message, at) });
  note(request, { at, farId, text: part.text });
}

/** Edits a message; one that apps would not change any more is taken away, and sent again. */
async function edit(
  request: DeliveryRequest,
  { part, at, farId }: { readonly part: StyledText; readonly at: number; readonly farId: string },
): Promise<void> {
  const { message, records } = request;
  const { jid } = message;
  if (records.sent.shows({ jid, farId, text: part.text })) {
    return note(request, { at, farId, text: part.text });
  }
  if (records.edits.count(jid, farId) >= MOST_EDITS) {
    await sendText(request, { part, at });
    return await remove(request, farId);
  }
  const edited = await send(request, { ...worded(part), editTimestamp: Number(farId) });
  records.edits.note(jid, farId, edited);
  note(request, { at, farId: edited, text: part.text });
}

async function sendFile(
  request: DeliveryRequest,
  { file, at }: { readonly file: OutboundFile; readonly at: number },
): Promise<void> {
  const content = await readFile(file.path);
  const { mimeType } = kindOf(content);
  const name = encodeURIComponent(file.name);
  const attachment = `data:${mimeType};filename=${name};base64,${content.toString('base64')}`;
  const quote = quotation(request.message, at);
  const farId = await send(request, { message: '', attachment: [attachment], ...quote });
  note(request, { at, farId, text: file.name });
}

/** Takes a message away for everybody. After a day apps keep it. */
async function remove(
  { call, account, message, records, signal }: DeliveryRequest,
  farId: string,
): Promise<void> {
  const { jid } = message;
  const target = { account, ...receiverOf(jid, account), targetTimestamp: Number(farId) };
  try {
    await call('remoteDelete', target, signal);
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== RPC_CODES.userError) throw error;
  }
  records.sent.remove({ jid, farId });
}

/** Puts an emoji on a message. What Signal does not take as one is sent. */
async function react(request: DeliveryRequest, emoji: string): Promise<void> {
  const { call, account, message, signal } = request;
  const target = messageIn(message.reactsTo?.id ?? '');
  try {
    if (target === null) throw new RpcError(RPC_CODES.userError, 'no message', null);
    const { author: targetAuthor, timestamp: targetTimestamp } = target;
    const on = { account, ...receiverOf(message.jid, account), targetAuthor, targetTimestamp };
    await call('sendReaction', { ...on, emoji }, signal);
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== RPC_CODES.userError) throw error;
    await sendText(request, { part: { text: emoji, styles: [] }, at: 0 });
  }
}

/** @returns the time of the message, by which Signal knows it */
async function send(
  request: DeliveryRequest,
  what: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { call, account, message, signal, log } = request;
  const answer = await call(
    'send',
    { account, ...receiverOf(message.jid, account), ...what },
    signal,
  );
  const failures = failuresIn(answer);
  if (failures.length > 0) {
    log.warn('a message did not reach all members of a Signal group', { failures });
  }
  return String(Sent.parse(answer).timestamp);
}

function note(
  { message, records }: DeliveryRequest,
  part: { readonly at: number; readonly farId: string; readonly text: string },
): void {
  records.sent.note({ id: message.id, jid: message.jid, ...part });
}

function worded({ text, styles }: StyledText): Readonly<Record<string, unknown>> {
  return { message: text, ...(styles.length === 0 ? {} : { textStyle: styles }) };
}

const LONGEST_QUOTE = 500;

/** The first part shows what it answers. */
function quotation({ replyTo }: OutboundMessage, at: number): Readonly<Record<string, unknown>> {
  const quoted = replyTo === undefined || at !== 0 ? null : messageIn(replyTo.id);
  if (replyTo === undefined || quoted === null) return {};
  return {
    quoteTimestamp: quoted.timestamp,
    quoteAuthor: quoted.author,
    quoteMessage: replyTo.text.slice(0, LONGEST_QUOTE).toWellFormed(),
  };
}

/**
 * Names the receiver as signal-cli's commands do. A note to self makes the owner's phone ring only as an ordinary
 * message.
 *
 * @throws SignalError JID_INVALID
 */
export function receiverOf(jid: string, account: string): Readonly<Record<string, unknown>> {
  const receiver = receiverIn(jid);
  if (receiver === null) throw new SignalError('JID_INVALID', `${jid} is not a chat on Signal.`);
  if (receiver.kind === 'group') return { groupId: [receiver.id] };
  const { address } = receiver;
  return { recipient: [address], ...(address === account ? { notifySelf: true } : {}) };
}
