import { existsSync } from 'node:fs';
import type { ChannelCapabilities, OutboundFile, OutboundMessage } from '../../channels/channel.ts';
import { beginningOf } from '../../lib/graphemes.ts';
import type { KeptFile, Outbound } from '../../store/store.ts';
import { sizeInWords } from '../attachments/attachments.ts';

type OutboundPorts = {
  readonly pathOf: (file: KeptFile) => string;
  /** Returns the progress that the same turn sent before, where that can still be changed; null otherwise. */
  /** Charges the group of the chat; null where it has none. */
  readonly pay: OutboundMessage['pay'] | null;
  readonly progressBefore: (message: Outbound) => Pick<Outbound, 'messageId' | 'text'> | null;
};

/**
 * Makes the message that a channel sends from a queued one, with only what the channel can show. If it cannot send a
 * file, a line of the text says where the file is and why it is not sent.
 */
export function outboundFor(
  can: ChannelCapabilities,
  message: Outbound,
  { pathOf, pay, progressBefore }: OutboundPorts,
): OutboundMessage {
  const { messageId: id, jid, replyTo, thread } = message;
  if (message.isReaction && can.reactions && replyTo !== null) {
    return { id, jid, text: message.text, reactsTo: replyTo };
  }
  const draft = can.drafts === undefined ? null : message.replaces;
  const earlier = message.isProgress && can.edits ? progressBefore(message) : null;
  const attachments: OutboundFile[] = [];
  const lines: string[] = [];
  for (const file of message.attachments) {
    const path = pathOf(file);
    const reason = whyNotSent(can, file, path);
    if (reason === null) attachments.push({ path, name: file.name, sizeBytes: file.sizeBytes });
    else lines.push(lineFor(file, reason));
  }
  const isSpoken = can.speech && message.isAgents && !message.isProgress;
  const shown = choicesFor(can, message);
  const own = shown === null || shown.isBesideText ? message.text : shown.choices.text;
  const said = earlier === null ? own : `${earlier.text}\n${own}`;
  const text = [said, lines.join('\n')].filter((part) => part !== '').join('\n\n');
  return {
    id,
    jid,
    text,
    ...(message.isProgress ? { isProgress: true } : {}),
    ...(isSpoken ? { isAgents: true, ...(pay ? { pay } : {}) } : {}),
    ...(message.repeats > 0 ? { mayBeThere: { since: message.createdAt } } : {}),
    ...(earlier === null ? {} : { replaces: earlier.messageId }),
    ...(draft === null ? {} : { replaces: draft }),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(can.replyTo && replyTo !== null ? { replyTo } : {}),
    ...(can.thread && thread !== null ? { thread } : {}),
    ...(shown === null ? {} : { choices: shown.choices }),
  };
}

/**
 * Returns the choices as the channel can show them: whole, or by number and word beside a text that numbers them. Null
 * where it shows none, or not so many.
 */
function choicesFor({ choices: can }: ChannelCapabilities, { choices }: Outbound) {
  if (can === undefined || choices === null || choices.options.length > can.most) return null;
  const { longest = Number.POSITIVE_INFINITY, isBesideText = false } = can;
  if (choices.options.every(({ label }) => label.length <= longest)) {
    return { choices, isBesideText };
  }
  const options = choices.options.map(({ word }, at) => {
    return { word, label: beginningOf(`${at + 1} ${word}`, longest) };
  });
  return { choices: { ...choices, options }, isBesideText: true };
}

function whyNotSent(
  { attachments: limits }: ChannelCapabilities,
  { sizeBytes }: KeptFile,
  path: string,
): string | null {
  if (limits === undefined) return 'this channel cannot send files';
  if (sizeBytes > limits.maxBytes) {
    return `this channel sends files up to ${sizeInWords(limits.maxBytes)}`;
  }
  return existsSync(path) ? null : 'its copy for sending is gone';
}

function lineFor({ origin, sizeBytes }: KeptFile, reason: string): string {
  // A name that could end the quotation could pass for our own words.
  const plain = origin.replace(/[`\p{C}]+/gu, ' ');
  return `- File \`${plain}\` (${sizeInWords(sizeBytes)}) is not sent, as ${reason}. It is in that place on the assistant’s computer.`;
}
