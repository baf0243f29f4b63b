import type { proto, WASocket } from '@whiskeysockets/baileys';
import { z } from 'zod';
import type { OutboundChoices } from '../../channel.ts';
import type { Baileys } from '../session/baileys.ts';
import type { LinkDatabase } from '../session/link-database.ts';
import { LONGEST_NAME, LONGEST_OPTION, MOST_OPTIONS } from './poll-limits.ts';
import type { Sent } from './sent.ts';

/** The question that a poll asks, with the words of its options in their order. */
export type Poll = { readonly question: string; readonly words: readonly string[] };

/** The polls that went out; their messages, which hold the key of the votes, are with the others. */
export interface Polls {
  keep(id: string, poll: Poll): void;
  find(id: string): Poll | null;
}

const Row = z.object({ question: z.string(), words: z.string() });
const Words = z.array(z.string());

export function openPolls({ database }: LinkDatabase): Polls {
  const insert = database.prepare(
    'INSERT OR REPLACE INTO polls (id, question, words) VALUES (:id, :question, :words)',
  );
  const find = database.prepare('SELECT question, words FROM polls WHERE id = ?');
  return {
    keep: (id, { question, words }) =>
      void insert.run({ id, question, words: JSON.stringify(words) }),
    find(id) {
      const row = Row.optional().parse(find.get(id));
      if (row === undefined) return null;
      return { question: row.question, words: Words.parse(JSON.parse(row.words)) };
    },
  };
}

/** Tells whether WhatsApp can show these choices: votes name options by their text alone. */
export function fitsPoll({ options }: OutboundChoices): boolean {
  return (
    options.length >= 2 &&
    options.length <= MOST_OPTIONS &&
    options.every(({ label }) => label.length <= LONGEST_OPTION) &&
    new Set(options.map(({ label }) => label)).size === options.length
  );
}

/** The node beside an encrypted message with a poll, for WhatsApp's server. */
export const POLL_NODE = { tag: 'meta', attrs: { polltype: 'creation' } };

type Parts = {
  readonly baileys: Baileys;
  readonly socket: WASocket;
  readonly sent: Sent;
  readonly polls: Polls;
};

/**
 * Makes the message of a poll. It is kept before it is sent, so that a repetition is the same poll, and so that
 * its votes can be read after a restart.
 */
export async function pollMessage(
  { baileys, socket, sent, polls }: Parts,
  {
    jid,
    id,
    choices,
  }: { readonly jid: string; readonly id: string; readonly choices: OutboundChoices },
): Promise<proto.IMessage> {
  const kept = sent.fileOf(id);
  if (kept !== null) return baileys.proto.Message.decode(kept);
  const values = choices.options.map(({ label }) => label);
  const message = await baileys.generateWAMessageContent(
    { poll: { name: nameOf(choices), values, selectableCount: 1 } },
    { upload: socket.waUploadToServer, jid },
  );
  polls.keep(id, { question: choices.question, words: choices.options.map(({ word }) => word) });
  sent.keepFile(id, baileys.proto.Message.encode(message).finish());
  return message;
}

/** The whole question is in the text above. */
export function nameOf({ text }: OutboundChoices): string {
  const last = text.split('\n').findLast((line) => line.trim() !== '') ?? '';
  const plain = last.replace(/[*_~`]/g, '').trim();
  return plain === '' || plain.length > LONGEST_NAME || last.startsWith('>')
    ? 'Your answer'
    : plain;
}
