import { z } from 'zod';

const KeptFile = z.object({
  copy: z.string(),
  origin: z.string(),
  name: z.string(),
  sizeBytes: z.int(),
});
const KeptFiles = z.array(KeptFile);

/**
 * A file that goes along with a message: the name of the host's copy of it, where it was copied from as
 * people are told, and its name for the recipient.
 */
export type KeptFile = Readonly<z.output<typeof KeptFile>>;

const KeptChoices = z.object({
  question: z.string(),
  text: z.string(),
  options: z.array(z.object({ word: z.string(), label: z.string() })),
});

/** A question that can be answered by a press: its id, the text where that can be done, and the choices. */
export type KeptChoices = Readonly<z.output<typeof KeptChoices>>;

export type NewOutbound = {
  readonly messageId: string;
  readonly jid: string;
  readonly text: string;
  /** The turn that it answers or reports on; absent or null for a message without a question. */
  readonly turnId?: string | null;
  /** It says how far a command is, and answers nothing yet. */
  readonly isProgress?: boolean;
  /** The channel's id of the message in the same chat that it is shown to answer. */
  readonly replyTo?: string | null;
  readonly attachments?: readonly KeptFile[];
  /** Its text is an emoji for the message that `replyTo` names. */
  readonly isReaction?: boolean;
  /** The turn into whose thread it goes, where that is not `turnId`. */
  readonly threadOf?: string | null;
  /** For channels that show choices to press; `text` names them for all others. */
  readonly choices?: KeptChoices | null;
  /** The draft that gets this text in place of its own. */
  readonly replaces?: string | null;
};

/** A message on its way out. `attempts` counts refusals, `repeats` sends of unknown outcome. */
export type Outbound = Omit<NewOutbound, 'replyTo' | 'threadOf'> & {
  readonly turnId: string | null;
  readonly isProgress: boolean;
  /** It is of a turn that an agent works on. */
  readonly isAgents: boolean;
  readonly attachments: readonly KeptFile[];
  readonly isReaction: boolean;
  /** Null where it answers nothing, or where that is not stored any more. */
  readonly replyTo: { readonly id: string; readonly sender: string; readonly text: string } | null;
  readonly choices: KeptChoices | null;
  readonly replaces: string | null;
  /** The thread of what was asked last in its turn; null without a turn, or where there are no threads. */
  readonly thread: string | null;
  readonly seq: number;
  readonly attempts: number;
  readonly repeats: number;
  readonly nextTryAt: number;
  /** When it was queued, in milliseconds since the epoch. */
  readonly createdAt: number;
};

const Row = z
  .object({
    seq: z.int(),
    message_id: z.string(),
    jid: z.string(),
    text: z.string(),
    turn_id: z.string().nullable(),
    is_progress: z.int(),
    is_agents: z.int(),
    is_reaction: z.int(),
    attempts: z.int(),
    repeats: z.int(),
    next_try_at: z.int(),
    created_at: z.int(),
    attachments: z.string(),
    choices: z.string().nullable(),
    replaces: z.string().nullable(),
    thread: z.string().nullable(),
    reply_id: z.string().nullable(),
    reply_sender: z.string().nullable(),
    reply_text: z.string().nullable(),
  })
  .transform((row) => ({
    seq: row.seq,
    messageId: row.message_id,
    jid: row.jid,
    text: row.text,
    turnId: row.turn_id,
    isProgress: row.is_progress !== 0,
    isAgents: row.is_agents !== 0,
    isReaction: row.is_reaction !== 0,
    attempts: row.attempts,
    repeats: row.repeats,
    nextTryAt: row.next_try_at,
    createdAt: row.created_at,
    attachments: parseFiles(row.attachments),
    choices: row.choices === null ? null : parseChoices(row.choices),
    replaces: row.replaces,
    thread: row.thread,
    replyTo:
      row.reply_id === null || row.reply_sender === null
        ? null
        : { id: row.reply_id, sender: row.reply_sender, text: row.reply_text ?? '' },
  }));

/** Reads a row of the outbox. */
export function parseOutbound(row: unknown): Outbound {
  return Row.parse(row);
}

function parseChoices(json: string): KeptChoices | null {
  return KeptChoices.safeParse(JSON.parse(json)).data ?? null;
}

/** Reads what another tree may have written: a message is sent without its files rather than never. */
export function parseFiles(json: string): readonly KeptFile[] {
  return KeptFiles.safeParse(JSON.parse(json)).data ?? [];
}
