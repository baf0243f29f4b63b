import type * as webApi from '@slack/web-api';
import { z } from 'zod';
import type { ChannelLog } from '../channel.ts';
import { isDirectChannel } from './jid.ts';

const REMEMBERED = 5_000;

const Root = z.looseObject({ user: z.string().optional(), text: z.string().default('').catch('') });

export type ThreadRoot = { readonly user: string | null; readonly text: string };

/** Names of users and channels, asked for once each. A name that cannot be had is null and asked again. */
export class Names {
  readonly #web: webApi.WebClient;
  readonly #log: ChannelLog;
  readonly #known = new Map<string, Promise<unknown>>();

  constructor(web: webApi.WebClient, log: ChannelLog) {
    this.#web = web;
    this.#log = log;
  }

  /** Returns the name that people see beside a user's messages. */
  ofUser(userId: string): Promise<string | null> {
    return this.#once(userId, async () => {
      const { user } = await this.#web.users.info({ user: userId });
      return user?.profile?.display_name || user?.real_name || user?.name || null;
    });
  }

  /** The channel's name without `#`; for a direct message, the name of the person. */
  ofChannel(channelId: string, userId: string): Promise<string | null> {
    if (isDirectChannel(channelId)) return this.ofUser(userId);
    return this.#once(channelId, async () => {
      const { channel } = await this.#web.conversations.info({ channel: channelId });
      return channel?.name ?? null;
    });
  }

  /** The message that began a thread: who wrote it, and its text in Slack's notation. Null where that cannot be had. */
  rootOf(channel: string, ts: string): Promise<ThreadRoot | null> {
    return this.#once(`${channel} ${ts}`, async () => {
      const { messages } = await this.#web.conversations.replies({ channel, ts, limit: 1 });
      const { data } = Root.safeParse(messages?.find((one) => one.ts === ts));
      return data === undefined ? null : { user: data.user ?? null, text: data.text };
    });
  }

  /** Names may have changed. */
  forget(): void {
    this.#known.clear();
  }

  #once<T>(id: string, ask: () => Promise<T | null>): Promise<T | null> {
    const known = this.#known.get(id) as Promise<T | null> | undefined;
    if (known !== undefined) return known;
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    const asking = ask().catch((error: unknown) => {
      this.#known.delete(id);
      this.#log.info('Slack did not tell a name', { id, cause: String(error) });
      return null;
    });
    this.#known.set(id, asking);
    return asking;
  }
}
