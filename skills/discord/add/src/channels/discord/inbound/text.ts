import type { FarMessageContent } from './event.ts';
import { nameOf } from './event.ts';
import type { Places } from './places.ts';

/** The bot as its messages and mentions name it. */
export type Me = { readonly id: string; readonly assistantName: string };

type Names = Pick<Places, 'channelName' | 'role'>;

const REFERENCE = /<(?:@!?(\d+)|@&(\d+)|#(\d+)|a?:(\w+):\d+|t:(-?\d+)(?::\w)?)>/g;

/** Turns Discord's notation into what people see: names instead of ids, plain emojis, times. */
export function readText(
  { content, mentions }: Pick<FarMessageContent, 'content' | 'mentions'>,
  { me, names }: { readonly me: Me; readonly names: Names },
): string {
  const people = new Map(mentions.map((user) => [user.id, nameOf(user)]));
  return content.replace(REFERENCE, (whole, user, role, channel, emoji, seconds) => {
    if (user === me.id) return `@${me.assistantName}`;
    if (user !== undefined) return `@${people.get(user) ?? user}`;
    if (role !== undefined) {
      const known = names.role(role);
      return known?.botId === me.id ? `@${me.assistantName}` : `@${known?.name ?? role}`;
    }
    if (channel !== undefined) return `#${names.channelName(channel) ?? channel}`;
    if (emoji !== undefined) return `:${emoji}:`;
    return timeIn(Number(seconds)) ?? whole;
  });
}

function timeIn(seconds: number): string | null {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** Tells whether a message calls the bot: by its name, by the role that Discord gave it, or by answering it. */
export function mentionsBot(message: FarMessageContent, me: Me, names: Names): boolean {
  return (
    message.mentions.some(({ id }) => id === me.id) ||
    message.mention_roles.some((id) => names.role(id)?.botId === me.id) ||
    message.referenced_message?.author.id === me.id
  );
}
