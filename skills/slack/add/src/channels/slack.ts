import {
  type Channel,
  type ChannelContext,
  type ChannelEvents,
  type ChannelStatus,
  defineChannel,
  type FetchedAttachment,
  type OutboundDraft,
  type OutboundMessage,
  type Person,
} from './channel.ts';
import { dropFetched } from './kit/fetched-file.ts';
import { openSentMessages, type SentMessages } from './kit/sent-messages.ts';
import { settingsProblem } from './slack/access.ts';
import { ATTEMPT_MIGRATIONS, type Attempts, openAttempts } from './slack/attempts.ts';
import { CAPABILITIES, messageOf } from './slack/delivery.ts';
import { SlackError } from './slack/failure.ts';
import {
  FILE_MIGRATIONS,
  type FileReferences,
  fetchedFolder,
  openFileReferences,
} from './slack/file-references.ts';
import { isSlackJid } from './slack/jid.ts';
import { openSeenMessages, SEEN_MIGRATIONS, type SeenMessages } from './slack/seen-messages.ts';
import { appOf, SlackEnvironment, type SlackSettings } from './slack/settings.ts';
import type { Workspace } from './slack/workspace.ts';

/** Slack through an app of the owner's, in socket mode. Silent until one of its tokens is set. */
export const channel = defineChannel({
  name: 'slack',
  needs: ['SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN'],
  settings: SlackEnvironment,
  create({ settings, assistantName, log, clock, dataDir, openDatabase }) {
    const app = appOf(settings);
    if (app === null) return null;
    const migrations = [...FILE_MIGRATIONS, ...ATTEMPT_MIGRATIONS, ...SEEN_MIGRATIONS];
    const sent = openSentMessages(openDatabase, clock.now, migrations);
    const attempts = openAttempts(openDatabase, clock.now);
    const files = openFileReferences(openDatabase, clock.now);
    const seen = openSeenMessages(openDatabase, clock.now);
    const folder = fetchedFolder(dataDir);
    const kept = { sent, attempts, files, seen, folder };
    return new SlackChannel(app, { assistantName, log, clock, ...kept });
  },
});

type Parts = Pick<ChannelContext, 'assistantName' | 'log' | 'clock'> & {
  readonly sent: SentMessages;
  readonly attempts: Attempts;
  readonly files: FileReferences;
  readonly seen: SeenMessages;
  /** The folder of files that are fetched. */
  readonly folder: string;
};

/**
 * `refused` stays until the owner has changed a setting and restarted; in `connecting` and `failed`
 * the channel goes on trying by itself.
 */
class SlackChannel implements Channel {
  readonly name = 'slack';
  readonly allowSetting = 'SLACK_ALLOW_FROM';
  readonly capabilities = CAPABILITIES;
  readonly #settings: SlackSettings;
  readonly #parts: Parts;
  #status: ChannelStatus = { state: 'stopped', detail: null };
  /** The connection, from `connect` to `disconnect`. */
  #workspace: Promise<Workspace> | null = null;

  constructor(settings: SlackSettings, parts: Parts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  async connect(events: ChannelEvents): Promise<void> {
    if (this.#workspace !== null) return;
    const { botToken, appToken, allowFrom, apiUrl } = this.#settings;
    const problem = settingsProblem(this.#settings);
    if (problem !== null || botToken === null || appToken === null) {
      this.#report(events, { state: 'refused', detail: problem });
      return;
    }
    this.#report(events, { state: 'connecting', detail: null });
    dropFetched(this.#parts.folder);
    // Slack's client takes a moment to load, which nobody without Slack should wait for.
    this.#workspace = import('./slack/workspace.ts').then(({ openWorkspace }) =>
      openWorkspace({
        botToken,
        appToken,
        allowFrom,
        apiUrl,
        ...this.#parts,
        events,
        report: (status) => this.#report(events, status),
      }),
    );
    const { firstOutcome } = await this.#workspace;
    await firstOutcome;
  }

  async disconnect(): Promise<void> {
    const workspace = this.#workspace;
    this.#workspace = null;
    if (workspace !== null) await (await workspace).close();
  }

  async send(message: OutboundMessage): Promise<void> {
    const { delivery } = await this.#connected();
    await delivery.send(message);
  }

  draft(draft: OutboundDraft): Promise<void> {
    return this.send(messageOf(draft));
  }

  async takeBack(jid: string, id: string): Promise<void> {
    const { takeBack } = await this.#connected();
    await takeBack(jid, id);
  }

  async fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment> {
    const fileId = this.#parts.files.of(jid, messageId);
    if (fileId === null) {
      const text = `The file of message ${messageId} is not known any more. Ask for it to be sent again.`;
      throw new SlackError('FILE_UNKNOWN', text);
    }
    if (this.#workspace === null) {
      const text = 'The file could not be fetched: Slack is not connected.';
      throw new SlackError('NOT_CONNECTED', text);
    }
    const { fetchFile } = await this.#workspace;
    return await fetchFile(fileId);
  }

  forgetChat(jid: string): void {
    this.#parts.sent.forgetChat(jid);
    this.#parts.attempts.forgetChat(jid);
    this.#parts.files.forgetChat(jid);
    this.#parts.seen.forgetChat(jid);
  }

  /** Slack has no typing indicator for apps in socket mode, so there is nothing to show. */
  async setTyping(_jid: string, _isTyping: boolean): Promise<void> {}

  ownsJid(jid: string): boolean {
    return isSlackJid(jid);
  }

  /** A conversation with a person has an id of its own, which Slack tells once it is open. */
  personOf(typed: string): Person | null {
    const id = /^(?:<@)?([UW](?=[A-Z]*\d)[A-Z0-9]{4,})>?$/.exec(typed.trim())?.[1];
    return id === undefined ? null : { sender: id, chat: null };
  }

  status(): ChannelStatus {
    return this.#status;
  }

  async #connected(): Promise<Workspace> {
    if (this.#workspace !== null) return await this.#workspace;
    throw new SlackError('NOT_CONNECTED', 'Slack is not connected; the message was not sent.');
  }

  #report(events: ChannelEvents, status: ChannelStatus): void {
    const { state, detail } = this.#status;
    if (state === status.state && detail === status.detail) return;
    this.#status = status;
    events.onStatus(status);
  }
}
