import { z } from 'zod';

const Id = z.string().regex(/^\d{1,20}$/);

export const User = z.looseObject({
  id: Id,
  username: z.string().default('?'),
  global_name: z.string().nullish(),
  bot: z.boolean().default(false),
});

const Attachment = z.looseObject({
  id: Id,
  filename: z.string().default('file'),
  size: z.number().nullish(),
  content_type: z.string().nullish(),
  duration_secs: z.number().nullish(),
  url: z.string().default(''),
});

/** A file of a message, as Discord describes it. */
export type FarAttachment = z.output<typeof Attachment>;

const Attachments = z.array(Attachment).max(100).default([]);

const Embed = z.looseObject({
  title: z.string().max(1_000).nullish().catch(null),
  description: z.string().max(10_000).nullish().catch(null),
  url: z.string().max(5_000).nullish().catch(null),
  fields: z
    .array(z.looseObject({ name: z.string().max(1_000), value: z.string().max(5_000) }))
    .max(50)
    .default([])
    .catch([]),
});

export type FarEmbed = z.output<typeof Embed>;

const Stickers = z
  .array(z.looseObject({ name: z.string() }))
  .max(50)
  .default([]);

const Answers = z
  .array(
    z.looseObject({
      answer_id: z.int().nullish(),
      poll_media: z.looseObject({ text: z.string().max(1_000).nullish() }).nullish(),
    }),
  )
  .max(50)
  .default([])
  .catch([]);

const Poll = z.looseObject({
  question: z.looseObject({ text: z.string().default('') }),
  answers: Answers,
  results: z
    .looseObject({
      is_finalized: z.boolean().default(false),
      answer_counts: z
        .array(z.looseObject({ id: z.int(), count: z.int() }))
        .max(50)
        .default([]),
    })
    .nullish()
    .catch(null),
});

export type FarPoll = z.output<typeof Poll>;

const Referenced = z.looseObject({
  id: Id,
  author: User,
  content: z.string().default(''),
  attachments: Attachments.catch([]),
  sticker_items: Stickers.catch([]),
  embeds: z.array(Embed).max(20).default([]).catch([]),
  poll: Poll.nullish().catch(null),
});

const Snapshot = z.looseObject({
  content: z.string().default(''),
  attachments: Attachments.catch([]),
  sticker_items: Stickers.catch([]),
  embeds: z.array(Embed).max(20).default([]).catch([]),
});

export type FarSnapshot = z.output<typeof Snapshot>;

export const Message = z.looseObject({
  id: Id,
  channel_id: Id,
  guild_id: Id.nullish(),
  type: z.int().default(0),
  author: User,
  webhook_id: Id.nullish(),
  member: z.looseObject({ nick: z.string().nullish() }).nullish(),
  content: z.string().default(''),
  mentions: z.array(User).default([]),
  mention_roles: z.array(Id).default([]),
  attachments: Attachments,
  sticker_items: Stickers,
  embeds: z.array(Embed).max(20).default([]).catch([]),
  poll: Poll.nullish(),
  message_reference: z.looseObject({ type: z.int().nullish() }).nullish().catch(null),
  message_snapshots: z
    .array(z.looseObject({ message: Snapshot }))
    .max(20)
    .default([]),
  referenced_message: Referenced.nullish(),
  components: z.array(z.unknown()).default([]),
});

/** A message of a person on Discord. */
export type FarMessageContent = z.output<typeof Message>;

/** An edited message. One that only got a preview of its link has no new time. */
export const Edited = Message.extend({ edited_timestamp: z.string().nullish() });

export const Reacted = z.looseObject({
  user_id: Id,
  channel_id: Id,
  message_id: Id,
  guild_id: Id.nullish(),
  emoji: z.looseObject({ id: Id.nullish(), name: z.string().nullish() }),
});

export const Channel = z.looseObject({
  id: Id,
  type: z.int(),
  name: z.string().nullish(),
  guild_id: Id.nullish(),
  parent_id: Id.nullish(),
});

export const Guild = z.looseObject({
  id: Id,
  name: z.string().default(''),
  channels: z.array(Channel).default([]),
  threads: z.array(Channel).default([]),
  roles: z
    .array(
      z.looseObject({
        id: Id,
        name: z.string().default(''),
        tags: z.looseObject({ bot_id: Id.nullish() }).nullish(),
      }),
    )
    .default([]),
});

const Option = z.looseObject({ value: z.union([z.string(), z.number(), z.boolean()]) });

export const Interaction = z.looseObject({
  id: Id,
  application_id: Id,
  token: z.string().min(1),
  type: z.int(),
  channel_id: Id,
  guild_id: Id.nullish(),
  /** In a direct chat. */
  user: User.nullish(),
  /** In a server. */
  member: z.looseObject({ user: User, nick: z.string().nullish() }).nullish(),
  data: z
    .looseObject({
      name: z.string().default(''),
      options: z.array(Option).default([]),
      custom_id: z.string().default(''),
    })
    .default({ name: '', options: [], custom_id: '' }),
});

/** A slash command or a press of a button. */
export type FarInteraction = z.output<typeof Interaction>;

export const COMMAND = 2;
export const COMPONENT = 3;

/** A message of the past that is gone. Discord says no more. */
export const Removed = z.looseObject({ id: Id, channel_id: Id, guild_id: Id.nullish() });

/** A message or an answer; all others tell that something happened. */
const SPOKEN = new Set([0, 19]);

/** Kinds that people cause and that say nothing new, such as a pin, a boost, or a thread that was begun. */
const NOTHING_NEW = new Set([
  3, 4, 5, 6, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31, 32,
  36, 37, 38, 39, 44,
]);
/** The end of a poll: its result is an embed. */
const POLL_RESULT = 46;

/** Tells whether a person caused a message of a kind that nobody has heard of, or a poll has ended. */
export function isTold({ type, author, webhook_id: webhook }: FarMessageContent): boolean {
  return !SPOKEN.has(type) && !NOTHING_NEW.has(type) && !author.bot && (webhook ?? null) === null;
}

export function isPollResult({ type }: FarMessageContent): boolean {
  return type === POLL_RESULT;
}

/** Tells whether a person wrote the message: no bot, no webhook, and not Discord itself. */
export function isSpoken({ type, author, webhook_id: webhook }: FarMessageContent): boolean {
  return SPOKEN.has(type) && !author.bot && (webhook ?? null) === null;
}

/** Returns the name that people see beside somebody's messages. */
export function nameOf(
  { global_name: global, username }: z.output<typeof User>,
  nick?: string | null,
): string {
  return nick || global || username;
}
