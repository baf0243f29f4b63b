import type * as webApi from '@slack/web-api';
import type { ChannelLog } from '../channel.ts';
import { isDirectChannel } from './jid.ts';

/** Names of users and channels, asked for once each. A name that cannot be had is null and asked again. */
export class Names {
  readonly #web: webApi.WebClient;
  readonly #log: ChannelLog;
  readonly #known = new Map<string, Promise<string | null>>();

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

  /** Names may have changed. */
  forget(): void {
    this.#known.clear();
  }

  #once(id: string, ask: () => Promise<string | null>): Promise<string | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const asking = ask().catch((error: unknown) => {
      this.#known.delete(id);
      this.#log.info('Slack did not tell a name', { id, cause: String(error) });
      return null;
    });
    this.#known.set(id, asking);
    return asking;
  }
}
