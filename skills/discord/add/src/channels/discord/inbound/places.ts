import type { REST } from '@discordjs/rest';
import type { z } from 'zod';
import type { ChannelLog } from '../../channel.ts';
import { refusalCode } from '../failure.ts';
import { Channel, Guild } from './event.ts';

const DIRECT = 1;
/** Threads of announcements, public and private ones. */
const THREADS = new Set([10, 11, 12]);

/** The chat that a channel of Discord belongs to. */
export type Place = {
  /** The channel; of a thread the channel that it is in. */
  readonly chatId: string;
  /** The thread's own id. */
  readonly thread: string | null;
  readonly isDirect: boolean;
  /** `Acme #general`; null for a direct chat, or where it cannot be told. */
  readonly name: string | null;
};

type Known = z.output<typeof Channel>;

/**
 * Channels, threads, servers and roles, as Discord tells them when a session begins. What a resumed session has not
 * told is asked for, once.
 */
export class Places {
  readonly #api: REST;
  readonly #log: ChannelLog;
  readonly #channels = new Map<string, Known>();
  readonly #guilds = new Map<string, string>();
  readonly #roles = new Map<string, { readonly name: string; readonly botId: string | null }>();

  constructor(api: REST, log: ChannelLog) {
    this.#api = api;
    this.#log = log;
  }

  /** Notes what an event tells of servers and channels. */
  note(type: string, data: unknown): void {
    switch (type) {
      case 'GUILD_CREATE':
        this.#noteGuild(data);
        return;
      case 'CHANNEL_CREATE':
      case 'CHANNEL_UPDATE':
      case 'THREAD_CREATE':
      case 'THREAD_UPDATE':
        this.#noteChannel(Channel.safeParse(data).data);
    }
  }

  /** Finds the place of a channel. One that cannot be asked for counts as a chat of its own. */
  async of(channelId: string, guildId: string | null): Promise<Place> {
    const channel = await this.#channel(channelId);
    const isDirect = channel === null ? guildId === null : channel.type === DIRECT;
    if (channel === null || isDirect) {
      return { chatId: channelId, thread: null, isDirect, name: null };
    }
    if (!THREADS.has(channel.type) || channel.parent_id == null) {
      const name = await this.#nameOf(channel, guildId);
      return { chatId: channelId, thread: null, isDirect: false, name };
    }
    const parent = await this.#channel(channel.parent_id);
    const name = await this.#nameOf(parent ?? channel, guildId);
    return { chatId: channel.parent_id, thread: channelId, isDirect: false, name };
  }

  /** Returns the name of a channel without `#`, if it is known. */
  channelName(id: string): string | null {
    return this.#channels.get(id)?.name ?? null;
  }

  role(id: string): { readonly name: string; readonly botId: string | null } | null {
    return this.#roles.get(id) ?? null;
  }

  async #nameOf(channel: Known, guildId: string | null): Promise<string | null> {
    const name = channel.name ?? null;
    if (name === null) return null;
    const guild = await this.#guildName(channel.guild_id ?? guildId);
    return guild === null ? `#${name}` : `${guild} #${name}`;
  }

  async #channel(id: string): Promise<Known | null> {
    const known = this.#channels.get(id);
    if (known !== undefined) return known;
    const asked = await this.#ask(`/channels/${id}`);
    this.#noteChannel(Channel.safeParse(asked).data);
    return this.#channels.get(id) ?? null;
  }

  async #guildName(id: string | null): Promise<string | null> {
    if (id === null) return null;
    if (!this.#guilds.has(id)) this.#noteGuild(await this.#ask(`/guilds/${id}`));
    return this.#guilds.get(id) || null;
  }

  async #ask(path: `/${string}`): Promise<unknown> {
    try {
      return await this.#api.get(path);
    } catch (error) {
      // Without a place, a message of a thread would count as one of another chat: it comes again.
      if (refusalCode(error) === null) throw error;
      this.#log.info('Discord did not tell a name', { path, cause: String(error) });
      return null;
    }
  }

  #noteGuild(data: unknown): void {
    const guild = Guild.safeParse(data).data;
    if (guild === undefined) return;
    this.#guilds.set(guild.id, guild.name);
    for (const channel of [...guild.channels, ...guild.threads]) {
      this.#noteChannel({ ...channel, guild_id: guild.id });
    }
    for (const { id, name, tags } of guild.roles) {
      this.#roles.set(id, { name, botId: tags?.bot_id ?? null });
    }
  }

  #noteChannel(channel: Known | undefined): void {
    if (channel !== undefined) this.#channels.set(channel.id, channel);
  }
}
