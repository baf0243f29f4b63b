import type { REST } from '@discordjs/rest';
import { z } from 'zod';
import type { ChannelClock } from '../../channel.ts';
import { patiently } from '../api.ts';
import { refusalCode } from '../failure.ts';
import type { SeenMessage, SeenMessages } from '../records/seen-messages.ts';

const PAGE = 100;
/** A chat in which thousands were written meanwhile is not read to its end. */
const MOST_PAGES = 10;

export type CatchUp = {
  readonly api: REST;
  readonly seen: SeenMessages;
  readonly clock: ChannelClock;
  readonly signal: AbortSignal;
  /** Resolves when the message is stored. */
  readonly store: (message: unknown) => Promise<void>;
};

const Page = z.array(z.looseObject({ id: z.string() }));

/**
 * Fetches what was written while there was no session, in each channel where somebody was heard before. Rejects where
 * Discord cannot be asked now.
 */
export async function catchUp(options: CatchUp): Promise<void> {
  for (const row of options.seen.latest()) await catchUpIn(options, row);
}

async function catchUpIn(
  { api, seen, clock, signal, store }: CatchUp,
  { channelId, guildId, lastId }: SeenMessage,
): Promise<void> {
  let after = lastId;
  for (let page = 0; page < MOST_PAGES && !signal.aborted; page += 1) {
    const query = new URLSearchParams({ after, limit: String(PAGE) });
    const path = `/channels/${channelId}/messages` as const;
    let answer: unknown;
    try {
      answer = await patiently(() => api.get(path, { query, signal }), { clock, signal });
    } catch (error) {
      if (refusalCode(error) === null) throw error;
      return seen.forget(channelId); // The channel is gone, or closed to the bot.
    }
    // Newest first, as Discord lists them.
    const messages = Page.parse(answer).reverse();
    for (const message of messages) {
      await store(guildId === null ? message : { ...message, guild_id: guildId });
      after = message.id;
    }
    if (messages.length < PAGE) return;
  }
}
