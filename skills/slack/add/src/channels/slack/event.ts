import { z } from 'zod';
import { textOfBlocks } from './blocks.ts';

/** A message on Slack, before names are looked up. */
export type SlackMessage = {
  readonly channel: string;
  readonly user: string;
  /** Slack's time stamp in seconds, which is also the id of the message in its channel. */
  readonly ts: string;
  /** The time stamp of the message that began the thread; null outside of threads. */
  readonly thread: string | null;
  /** In Slack's own notation. */
  readonly text: string;
  readonly isAppMention: boolean;
  readonly files: readonly SlackFile[];
  readonly forwards: readonly SlackForward[];
};

/** A message that was passed on with another one. */
export type SlackForward = {
  /** The name as Slack shows it; null for none. */
  readonly authorName: string | null;
  readonly authorId: string | null;
  /** In Slack's own notation. */
  readonly text: string;
  readonly files: readonly SlackFile[];
};

/** A file as its message describes it: of those of another workspace, only the id is sure. */
export type SlackFile = z.output<typeof FileFields>;

/** Events that the channel listens for. */
export type SlackEvent =
  | { readonly kind: 'message'; readonly message: SlackMessage }
  /** Somebody changed a message, or deleted it: `text` is then null. */
  | {
      readonly kind: 'changed';
      readonly channel: string;
      readonly user: string;
      /** The time stamp of the change, and of the message. */
      readonly ts: string;
      readonly of: string;
      readonly thread: string | null;
      readonly before: string;
      readonly text: string | null;
    }
  /** Something happened in a conversation; of a kind that nobody has heard of, only the name is sure. */
  | {
      readonly kind: 'happened';
      readonly channel: string;
      readonly user: string;
      readonly ts: string;
      readonly text: string;
      readonly unknown: string | null;
    }
  /** A conversation got another id, as when it is shared with another workspace. */
  | { readonly kind: 'moved'; readonly from: string; readonly to: string }
  /** Somebody joined a conversation; `inviter` is null where nobody invited them. */
  | {
      readonly kind: 'joined';
      readonly channel: string;
      readonly user: string;
      readonly inviter: string | null;
    }
  /** Somebody put an emoji on a message, or took it away; `name` is Slack's name of it, null for none. */
  | {
      readonly kind: 'reacted';
      readonly channel: string;
      readonly user: string;
      readonly ts: string;
      readonly name: string | null;
    };

/** Subtypes under which people say something; under all others something happened. */
const SPOKEN = new Set(['file_share', 'me_message', 'thread_broadcast']);

/** Things that happen in a conversation, which Slack tells in a sentence. */
const HAPPENED =
  /^(channel|group)_(join|leave|topic|purpose|name|archive|unarchive|posting_permissions)$/;

/** Copies of what comes by itself, and what Slack tells apps about themselves. */
const NOTHING_NEW = new Set([
  'assistant_app_thread',
  'bot_add',
  'bot_message',
  'bot_remove',
  'file_comment',
  // Read by their own schemas.
  'message_changed',
  'message_deleted',
  'message_replied',
  'thread_broadcast_removed',
]);

const UNREADABLE = { id: '', mimetype: '', mode: 'unreadable' } as const;

const FileFields = z.looseObject({
  id: z.string().regex(/^\w+$/),
  name: z.string().nullish().catch(null),
  mimetype: z.string().default('').catch(''),
  size: z.int().nonnegative().nullish().catch(null),
  /** `hosted`, `snippet` and others that Slack has; `external`, and those that are gone, it has not. */
  mode: z.string().default('hosted').catch('hosted'),
  subtype: z.string().nullish().catch(null),
  duration_ms: z.number().nonnegative().nullish().catch(null),
});

const Files = z.array(FileFields.catch(UNREADABLE)).max(100).default([]).catch([]);

const Blocks = z.array(z.unknown()).max(200).default([]).catch([]);

const Shared = z.looseObject({
  is_share: z.boolean().optional().catch(undefined),
  author_name: z.string().max(1_000).nullish().catch(null),
  author_id: z.string().max(100).nullish().catch(null),
  text: z.string().default('').catch(''),
  fallback: z.string().default('').catch(''),
  message_blocks: z
    .array(z.looseObject({ message: z.looseObject({ blocks: Blocks }).optional() }))
    .max(20)
    .default([])
    .catch([]),
  files: Files,
});

const NO_SHARE = { text: '', fallback: '', files: [], message_blocks: [] };

const Message = z.looseObject({
  type: z.enum(['message', 'app_mention']),
  subtype: z.string().optional(),
  channel: z.string(),
  user: z.string(),
  bot_id: z.string().optional(),
  ts: z.string().regex(/^\d+\.\d+$/),
  thread_ts: z.string().optional(),
  text: z.string().default('').catch(''),
  // A file that cannot be read is named; what is said beside it arrives.
  files: Files,
  blocks: Blocks,
  attachments: z.array(Shared.catch(NO_SHARE)).max(50).default([]).catch([]),
});

const Said = z.looseObject({
  user: z.string().optional(),
  bot_id: z.string().optional(),
  subtype: z.string().optional(),
  ts: z.string().regex(/^\d+\.\d+$/),
  thread_ts: z.string().optional(),
  text: z.string().default('').catch(''),
  blocks: Blocks,
});

const Changed = z.looseObject({
  type: z.literal('message'),
  subtype: z.literal('message_changed'),
  channel: z.string(),
  ts: z.string(),
  message: Said,
  previous_message: Said.optional().catch(undefined),
});

const Deleted = z.looseObject({
  type: z.literal('message'),
  subtype: z.literal('message_deleted'),
  channel: z.string(),
  ts: z.string(),
  previous_message: Said,
});

const Moved = z.looseObject({
  type: z.literal('channel_id_changed'),
  old_channel_id: z.string(),
  new_channel_id: z.string(),
});

const Joined = z.looseObject({
  type: z.literal('member_joined_channel'),
  channel: z.string(),
  user: z.string(),
  inviter: z.string().optional(),
});

const Reacted = z.looseObject({
  type: z.literal('reaction_added'),
  user: z.string(),
  reaction: z.string(),
  item: z.looseObject({ type: z.literal('message'), channel: z.string(), ts: z.string() }),
});

const TookBack = Reacted.extend({ type: z.literal('reaction_removed') });

const Body = z.looseObject({
  event: z.union([Changed, Deleted, Message, Joined, Reacted, TookBack, Moved]),
});

/** Reads the body of an events_api envelope; null for everything that nobody said, and for bots. */
export function readEvent(body: unknown): SlackEvent | null {
  const event = Body.safeParse(body).data?.event;
  if (event === undefined) return null;
  if (event.type === 'reaction_added' || event.type === 'reaction_removed') {
    const { channel, ts } = event.item;
    const name = event.type === 'reaction_added' ? event.reaction : null;
    return { kind: 'reacted', channel, user: event.user, ts, name };
  }
  if (event.type === 'channel_id_changed') {
    return { kind: 'moved', from: event.old_channel_id, to: event.new_channel_id };
  }
  if (isChange(event)) return changeIn(event);
  const { channel, user } = event;
  if (event.type === 'member_joined_channel') {
    return { kind: 'joined', channel, user, inviter: event.inviter ?? null };
  }
  if (event.bot_id !== undefined) return null;
  const { ts, subtype, files, attachments } = event;
  const text = wordsOf(event);
  if (subtype !== undefined && !SPOKEN.has(subtype)) {
    if (NOTHING_NEW.has(subtype)) return null;
    const unknown = HAPPENED.test(subtype) ? null : subtype;
    return { kind: 'happened', channel, user, ts, text, unknown };
  }
  const forwards = attachments.flatMap((one) => (one.is_share === true ? [forwardOf(one)] : []));
  // Without words, what an app has made of a link is all there is.
  const instead = attachments.map((one) => one.text || one.fallback).find((one) => one !== '');
  const said = text === '' && forwards.length === 0 ? (instead ?? '') : text;
  const isAppMention = event.type === 'app_mention';
  // What began a thread has its own time stamp as that of the thread.
  const { thread_ts: begun = ts } = event;
  const thread = begun === ts ? null : begun;
  const words = { text: said, isAppMention, files, forwards };
  return { kind: 'message', message: { channel, user, ts, thread, ...words } };
}

function wordsOf({ text, blocks }: Pick<z.output<typeof Said>, 'text' | 'blocks'>): string {
  return text === '' ? textOfBlocks(blocks) : text;
}

function forwardOf(shared: z.output<typeof Shared>): SlackForward {
  const { author_name: name, author_id: id, text, fallback, files } = shared;
  const blocks = shared.message_blocks.flatMap(({ message }) => message?.blocks ?? []);
  return {
    authorName: name ?? null,
    authorId: id ?? null,
    text: text || textOfBlocks(blocks) || (files.length > 0 ? '' : fallback),
    files,
  };
}

type Change = z.output<typeof Changed> | z.output<typeof Deleted>;

function isChange(event: { readonly type: string; readonly subtype?: unknown }): event is Change {
  return Changed.safeParse(event).success || Deleted.safeParse(event).success;
}

/** Reads a change of a message; null where its words stayed, as when Slack adds a preview, and for the app's own. */
function changeIn(event: Change): SlackEvent | null {
  const { channel, ts, previous_message: previous } = event;
  const now = event.subtype === 'message_changed' ? event.message : null;
  const { user, bot_id: botId, ts: of, thread_ts: thread } = now ?? previous ?? {};
  if (user === undefined || of === undefined || botId !== undefined) return null;
  const before = previous === undefined ? '' : wordsOf(previous);
  // A message that has a thread leaves a tombstone.
  const text = now === null || now.subtype === 'tombstone' ? null : wordsOf(now);
  if (text === before) return null;
  const author = text === null ? (previous?.user ?? user) : user;
  const place = { channel, user: author, ts, of, thread: thread === of ? null : (thread ?? null) };
  return { kind: 'changed', ...place, before, text };
}
