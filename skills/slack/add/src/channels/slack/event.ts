import { z } from 'zod';

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
};

/** A file as its message describes it: of those of another workspace, only the id is sure. */
export type SlackFile = z.output<typeof File>;

/** Events that the channel listens for. */
export type SlackEvent =
  | { readonly kind: 'message'; readonly message: SlackMessage }
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

const UNREADABLE = { id: '', mimetype: '', mode: 'unreadable' } as const;

const File = z.looseObject({
  id: z.string().regex(/^\w+$/),
  name: z.string().nullish().catch(null),
  mimetype: z.string().default('').catch(''),
  size: z.int().nonnegative().nullish().catch(null),
  /** `hosted`, `snippet` and others that Slack has; `external`, and those that are gone, it has not. */
  mode: z.string().default('hosted').catch('hosted'),
  subtype: z.string().nullish().catch(null),
  duration_ms: z.number().nonnegative().nullish().catch(null),
});

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
  files: z.array(File.catch(UNREADABLE)).default([]).catch([]),
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
  event: z.discriminatedUnion('type', [Message, Joined, Reacted, TookBack]),
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
  const { channel, user } = event;
  if (event.type === 'member_joined_channel') {
    return { kind: 'joined', channel, user, inviter: event.inviter ?? null };
  }
  if (event.bot_id !== undefined) return null;
  if (event.subtype !== undefined && !SPOKEN.has(event.subtype)) return null;
  const { ts, text, files } = event;
  const isAppMention = event.type === 'app_mention';
  // What began a thread has its own time stamp as that of the thread.
  const { thread_ts: begun = ts } = event;
  const thread = begun === ts ? null : begun;
  return { kind: 'message', message: { channel, user, ts, thread, text, isAppMention, files } };
}
