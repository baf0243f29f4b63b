import { z } from 'zod';
import { Address, NameList } from '../../lib/setting-values.ts';
import { VoiceTexts } from '../../lib/voice/settings.ts';
import { isSnowflake } from './jid.ts';

/** Settings of the owner for Discord. */
export const DiscordEnvironment = z.object({
  DISCORD_ALLOW_FROM: NameList,
  DISCORD_API_URL: Address.default('https://discord.com/api').transform((url) =>
    url.replace(/\/+$/, ''),
  ),
  DISCORD_BOT_TOKEN: z.string().trim().optional(),
  DISCORD_OWNER: z
    .string()
    .trim()
    .refine(isSnowflake, 'a user id, which is a number of 17 digits or more')
    .optional(),
  ...VoiceTexts.shape,
});

/** The owner's bot. */
export type DiscordSettings = {
  readonly token: string;
  /** User ids, or `*`; the owner's is among them. */
  readonly allowFrom: readonly string[];
  /** The owner's user id, if their own chat with the bot is one of the assistant's main chats. */
  readonly owner: string | null;
  /** Address of the REST API, without version and slash at the end. The gateway's address comes from there. */
  readonly apiUrl: string;
  readonly voice: z.output<typeof VoiceTexts>;
};

/** Returns the owner's bot; null when it has no token. */
export function botOf(settings: z.output<typeof DiscordEnvironment>): DiscordSettings | null {
  const { DISCORD_BOT_TOKEN: token, DISCORD_ALLOW_FROM: listed } = settings;
  const { DISCORD_API_URL: apiUrl, DISCORD_OWNER: owner = null } = settings;
  const allowFrom = owner === null ? listed : [...new Set([...listed, owner])];
  return token === undefined || token === ''
    ? null
    : { token, allowFrom, owner, apiUrl, voice: settings };
}
