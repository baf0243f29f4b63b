import type { ChannelContext, ChannelEvents } from '../channel.ts';
import { isAllowed } from '../kit/allow-list.ts';
import { jsonIn } from '../kit/lines.ts';
import { readMessage } from './content.ts';
import { SignalEvent } from './envelope.ts';
import { directJid } from './jid.ts';
import { idOf, isMe, isOwner, type Me, type Person, type Spoken, spokenIn } from './people.ts';
import type { Records } from './records.ts';
import type { SignalSettings } from './settings.ts';

export type InboxOptions = Pick<ChannelContext, 'assistantName' | 'log'> & {
  readonly settings: SignalSettings;
  readonly me: Me;
  readonly records: Records;
};

/** Takes events of signal-cli, and hands them to the host. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #names = new Map<string, string>();
  readonly #chats = new Map<string, string | null>();
  #told = '';

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Writes an event to disk, if something was said in it: signal-cli does not tell it again. */
  keep(event: string): void {
    if (this.#spokenIn(event) !== null) this.#options.records.inbox.add(event);
  }

  /** Hands what is on disk to the host, in order. Rejects where it was not stored; it then stays on disk. */
  async handOver(events: ChannelEvents): Promise<void> {
    const { inbox } = this.#options.records;
    for (let kept = inbox.next(); kept !== null; kept = inbox.next()) {
      const spoken = this.#spokenIn(kept.event);
      if (spoken !== null) await this.#take(spoken, events);
      inbox.done(kept.seq);
    }
  }

  #spokenIn(event: string): Spoken | null {
    const { me, log } = this.#options;
    const { data } = SignalEvent.safeParse(jsonIn(event));
    if (data === undefined) {
      log.warn('an event of signal-cli could not be read');
      return null;
    }
    const { account, envelope, exception } = data;
    if (account != null && account !== me.account) {
      this.#warnOnce(
        `signal-cli receives for another account than SIGNAL_ACCOUNT; that is left out`,
      );
      return null;
    }
    if (exception != null && envelope?.dataMessage == null) {
      log.warn('signal-cli could not read a message', { reason: exception.type ?? 'unknown' });
    }
    return envelope == null ? null : spokenIn(envelope, me);
  }

  #warnOnce(words: string): void {
    if (this.#told !== words) this.#options.log.warn(words);
    this.#told = words;
  }

  async #take(spoken: Spoken, events: ChannelEvents): Promise<void> {
    const { settings, records, me, assistantName } = this.#options;
    const { jid, author, authorName, isDirect, data } = spoken;
    const sender = idOf(author);
    if (sender === null) return;
    if (!isWelcome(settings, author)) {
      if (isDirect) await events.onStranger?.(author.number ?? sender);
      return;
    }
    if (authorName !== null) this.#names.set(sender, authorName);
    await this.#reportChat(spoken, events);
    if (data.reaction != null) return await this.#takeReaction(spoken, events);
    const nameOf = (person: Person) => this.#names.get(idOf(person) ?? '') ?? null;
    for (const { message, file } of readMessage(spoken, { settings, me, assistantName, nameOf })) {
      if (file !== null) records.files.keep(jid, message.id, file);
      await events.onMessage(message);
    }
  }

  async #takeReaction({ jid, author, data }: Spoken, events: ChannelEvents): Promise<void> {
    const { me, records, settings } = this.#options;
    const { reaction } = data;
    const sender = idOf(author);
    if (reaction == null || sender === null) return;
    const target = { number: reaction.targetAuthorNumber, uuid: reaction.targetAuthorUuid };
    const id = records.sent.idOf(jid, String(reaction.targetSentTimestamp));
    if (id === null || !isMe(me, target)) return;
    const emoji = reaction.isRemove ? null : reaction.emoji;
    const by = { sender, isOwner: isOwner(settings, author) };
    await events.onReaction?.({ jid, ...by, messageId: id, emoji });
  }

  async #reportChat(spoken: Spoken, events: ChannelEvents): Promise<void> {
    const { jid, chatName: name, isDirect, author } = spoken;
    if (this.#chats.get(jid) === name) return;
    const { settings, me } = this.#options;
    const isNote = jid === directJid(me.account);
    const isOwners =
      isDirect && isOwner(settings, isNote ? { number: me.account, uuid: me.uuid } : author);
    await events.onChat({ jid, name, isDirect, ...(isOwners ? { isOwners } : {}) });
    this.#chats.set(jid, name);
  }
}

function isWelcome({ allowFrom }: SignalSettings, { number, uuid }: Person): boolean {
  return [number, uuid?.toLowerCase()].some((id) => id != null && isAllowed(allowFrom, id));
}
