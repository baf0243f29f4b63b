import {
  type Channel,
  type ChannelContext,
  type ChannelEvents,
  type ChannelStatus,
  type ChatCommand,
  defineChannel,
  type FetchedAttachment,
  type OutboundDraft,
  type OutboundMessage,
  type Person,
} from './channel.ts';
import { allowListProblem } from './discord/access.ts';
import type { OpenBot } from './discord/bot.ts';
import { CAPABILITIES } from './discord/capabilities.ts';
import { DiscordError } from './discord/error.ts';
import { isDiscordJid, isSnowflake } from './discord/jid.ts';
import { type Books, openBooks } from './discord/records/books.ts';
import { fetchedFolder } from './discord/records/file-references.ts';
import { botOf, DiscordEnvironment, type DiscordSettings } from './discord/settings.ts';
import { draftText } from './kit/draft-text.ts';
import { dropFetched } from './kit/fetched-file.ts';
import type { SentMessages } from './kit/sent-messages.ts';

/** Discord through a bot of the owner's, over its gateway. Silent until DISCORD_BOT_TOKEN is set. */
export const channel = defineChannel({
  name: 'discord',
  needs: ['DISCORD_BOT_TOKEN'],
  settings: DiscordEnvironment,
  create({ settings, assistantName, commands = [], log, clock, dataDir, openDatabase }) {
    const bot = botOf(settings);
    if (bot === null) return null;
    const opened = openBooks(openDatabase, { now: () => clock.now(), apiUrl: bot.apiUrl });
    return new DiscordChannel(bot, { assistantName, commands, log, clock, dataDir, ...opened });
  },
});

type Parts = Pick<ChannelContext, 'assistantName' | 'log' | 'clock' | 'dataDir'> & {
  readonly commands: readonly ChatCommand[];
  readonly books: Books;
  readonly sent: SentMessages;
};

/**
 * `refused` stays until the owner has changed a setting and restarted; in `connecting` the channel goes on trying
 * by itself.
 */
class DiscordChannel implements Channel {
  readonly name = 'discord';
  readonly allowSetting = 'DISCORD_ALLOW_FROM';
  readonly capabilities = CAPABILITIES;
  readonly #settings: DiscordSettings;
  readonly #parts: Parts;
  #status: ChannelStatus = { state: 'stopped', detail: null };
  /** The connection, from `connect` to `disconnect`. */
  #bot: Promise<OpenBot> | null = null;

  constructor(settings: DiscordSettings, parts: Parts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  async connect(events: ChannelEvents): Promise<void> {
    if (this.#bot !== null) return;
    const problem = allowListProblem(this.#settings.allowFrom);
    if (problem !== null) {
      this.#report(events, { state: 'refused', detail: problem });
      return;
    }
    this.#report(events, { state: 'connecting', detail: null });
    dropFetched(fetchedFolder(this.#parts.dataDir));
    // Discord's library takes time to load, which nobody without Discord should wait for.
    this.#bot = import('./discord/bot.ts').then(({ openBot }) =>
      openBot({
        ...this.#parts,
        settings: this.#settings,
        events,
        report: (status) => this.#report(events, status),
      }),
    );
    const { firstOutcome } = await this.#bot;
    await firstOutcome;
  }

  async disconnect(): Promise<void> {
    const bot = this.#bot;
    this.#bot = null;
    if (bot !== null) await (await bot).close();
  }

  async send(message: OutboundMessage): Promise<void> {
    const { delivery } = await this.#connected();
    await delivery.send(message);
  }

  draft({ activity, ...draft }: OutboundDraft): Promise<void> {
    return this.send({ ...draft, text: draftText({ text: draft.text, activity }) });
  }

  async takeBack(jid: string, id: string): Promise<void> {
    const { takeBack } = await this.#connected();
    await takeBack(jid, id);
  }

  async fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment> {
    const { books, dataDir } = this.#parts;
    const file = books.files.of(jid, messageId);
    if (file === null) {
      const text = `The file of message ${messageId} is not known any more. Ask for it to be sent again.`;
      throw new DiscordError('FILE_UNKNOWN', text);
    }
    if (this.#bot === null) {
      const text = 'The file could not be fetched: Discord is not connected.';
      throw new DiscordError('NOT_CONNECTED', text);
    }
    const { fetchFile } = await this.#bot;
    return await fetchFile(file, fetchedFolder(dataDir));
  }

  forgetChat(jid: string): void {
    const { books, sent } = this.#parts;
    sent.forgetChat(jid);
    books.files.forgetChat(jid);
    books.interactions.forgetChat(jid);
    books.attempts.forgetChat(jid);
  }

  answered(jid: string, ids: readonly string[]): void {
    void this.#bot?.then(
      ({ endUnanswered }) => endUnanswered(jid, ids),
      () => {}, // Where the library could not be loaded, no command was acknowledged.
    );
  }

  /** Discord shows it for ten seconds, or until the next message; there is no way to take it back. */
  async setTyping(jid: string, isTyping: boolean): Promise<void> {
    if (!isTyping || this.#bot === null) return;
    const { showTyping } = await this.#bot;
    await showTyping(jid);
  }

  ownsJid(jid: string): boolean {
    return isDiscordJid(jid);
  }

  /** A direct chat has an id of its own, which Discord tells once it is open. */
  personOf(typed: string): Person | null {
    const id = typed.trim().replace(/^<@!?(\d+)>$/, '$1');
    return isSnowflake(id) ? { sender: id, chat: null } : null;
  }

  status(): ChannelStatus {
    return this.#status;
  }

  async #connected(): Promise<OpenBot> {
    if (this.#bot !== null) return await this.#bot;
    throw new DiscordError('NOT_CONNECTED', 'Discord is not connected; the message was not sent.');
  }

  #report(events: ChannelEvents, status: ChannelStatus): void {
    const { state, detail } = this.#status;
    if (state === status.state && detail === status.detail) return;
    this.#status = status;
    events.onStatus(status);
  }
}
