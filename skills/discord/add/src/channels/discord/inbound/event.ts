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

const Referenced = z.looseObject({ id: Id, author: User, content: z.string().default('') });

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
  attachments: z.array(Attachment).default([]),
  sticker_items: z.array(z.looseObject({ name: z.string() })).default([]),
  poll: z.looseObject({ question: z.looseObject({ text: z.string().default('') }) }).nullish(),
  message_snapshots: z
    .array(z.looseObject({ message: z.looseObject({ content: z.string().default('') }) }))
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

/** A message, an answer, a forwarded one; all others tell that something happened. */
const SPOKEN = new Set([0, 19]);

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
