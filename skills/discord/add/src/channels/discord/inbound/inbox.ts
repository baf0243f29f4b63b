import type { REST } from '@discordjs/rest';
import type { z } from 'zod';
import type { ChannelEvents, ChannelLog, InboundMessage } from '../../channel.ts';
import { isAllowed } from '../../kit/allow-list.ts';
import { correctedNote, deletedNote } from '../../kit/notes.ts';
import type { SentMessages } from '../../kit/sent-messages.ts';
import type { Dispatch } from '../gateway/session.ts';
import { acknowledge, addressOf } from '../interactions.ts';
import { farIdOf, jidOf } from '../jid.ts';
import { choiceIn, showOutcome } from '../press.ts';
import type { FileReferences } from '../records/file-references.ts';
import type { OpenInteractions } from '../records/open-interactions.ts';
import type { SeenMessages } from '../records/seen-messages.ts';
import { typedCommand } from '../slash-commands.ts';
import { baseOf, readEvent, readMessage } from './content.ts';
import {
  COMMAND,
  COMPONENT,
  Edited,
  type FarInteraction,
  type FarMessageContent,
  Interaction,
  isSpoken,
  isTold,
  Message,
  nameOf,
  Reacted,
  Removed,
} from './event.ts';
import type { Place, Places } from './places.ts';
import { type Me, readText } from './text.ts';

export type InboxOptions = {
  readonly api: REST;
  readonly allowFrom: readonly string[];
  readonly owner: string | null;
  readonly assistantName: string;
  readonly events: ChannelEvents;
  readonly log: ChannelLog;
  readonly places: Places;
  readonly sent: Pick<SentMessages, 'idOf'>;
  readonly files: Pick<FileReferences, 'keep'>;
  readonly seen: Pick<SeenMessages, 'note'>;
  readonly interactions: OpenInteractions;
  /** Told in which channel of a chat somebody wrote last: typing is shown there. */
  readonly heardIn: (jid: string, channelId: string) => void;
};

const REMEMBERED = 500;

/** Hands the gateway's events to the host. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #chats = new Map<string, string | null>();
  /** Commands and presses that Discord is being told to wait for. */
  readonly #acknowledging = new Map<string, Promise<boolean>>();
  /** The messages that came last, by their id. */
  readonly #lately = new Map<string, InboundMessage>();
  #me: Me;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#me = { id: '', assistantName: options.assistantName };
  }

  /** A session is about to begin, as this user. */
  arrive(botId: string): void {
    this.#me = { ...this.#me, id: botId };
  }

  /** Looks at an event as soon as it comes: Discord waits three seconds for a sign that a command was seen. */
  notice({ type, data }: Dispatch): void {
    if (type !== 'INTERACTION_CREATE') return;
    const interaction = Interaction.safeParse(data).data;
    if (interaction === undefined || !this.#isForUs(interaction)) return;
    const { api, log } = this.#options;
    this.#acknowledging.set(interaction.id, acknowledge(api, interaction, log));
  }

  /**
   * Resolves when the host has stored what is in an event, or there is nothing to store. Rejects when it did not store
   * it; the event must then come again.
   */
  async take({ type, data }: Pick<Dispatch, 'type' | 'data'>): Promise<void> {
    this.#options.places.note(type, data);
    switch (type) {
      case 'MESSAGE_CREATE':
        return await this.#whole(Message, data, (message) => this.#takeMessage(message));
      case 'MESSAGE_UPDATE':
        return await this.#whole(Edited, data, (message) => this.#takeCorrection(message));
      case 'MESSAGE_DELETE':
        return await this.#whole(Removed, data, (removed) => this.#takeDeletion(removed));
      case 'MESSAGE_REACTION_ADD':
        return await this.#whole(Reacted, data, (reacted) => this.#takeReaction(reacted, true));
      case 'MESSAGE_REACTION_REMOVE':
        return await this.#whole(Reacted, data, (reacted) => this.#takeReaction(reacted, false));
      case 'INTERACTION_CREATE':
        return await this.#whole(Interaction, data, (one) => this.#takeInteraction(one));
    }
  }

  /** An event in another shape than Discord's is none: it would be the same the next time. */
  async #whole<T>(schema: z.ZodType<T>, data: unknown, take: (event: T) => Promise<void>) {
    const event = schema.safeParse(data).data;
    if (event !== undefined) return await take(event);
    this.#options.log.info('an event of Discord could not be read');
  }

  async #takeMessage(message: FarMessageContent): Promise<void> {
    const { allowFrom, events, owner, places, files, seen, heardIn } = this.#options;
    const { author, channel_id: channelId, guild_id: guildId = null } = message;
    if (author.id === this.#me.id || !(isSpoken(message) || isTold(message))) return;
    if (!isAllowed(allowFrom, author.id)) {
      if (guildId === null) await events.onStranger?.(author.id);
      return;
    }
    const place = await places.of(channelId, guildId);
    await this.#reportChat(place, author.id, nameOf(author));
    heardIn(jidOf(place.chatId), channelId);
    const reading = { place, me: this.#me, names: places, owner };
    const isEvent = !isSpoken(message);
    const all = isEvent
      ? [{ message: readEvent(message, reading), file: null }]
      : readMessage(message, reading);
    for (const { message: readable, file } of all) {
      this.#remember(readable, message);
      if (file !== null) {
        const reference = { farId: file.farId, attachmentId: file.attachment.id };
        files.keep(readable.jid, readable.id, reference);
      }
      await events.onMessage(readable);
    }
    seen.note({ channelId, guildId, id: message.id });
  }

  /** Discord also tells of previews that it has added: only the words count. */
  async #takeCorrection(message: z.output<typeof Edited>): Promise<void> {
    const { allowFrom, events, owner, places } = this.#options;
    const { author, edited_timestamp: editedAt } = message;
    if (editedAt == null || !isSpoken(message) || !isAllowed(allowFrom, author.id)) return;
    const words = readText(message, { me: this.#me, names: places });
    if (words === '') return;
    const place = await places.of(message.channel_id, message.guild_id ?? null);
    const base = baseOf(message, { place, owner });
    const { id } = base;
    const notes = [correctedNote(words, this.#lately.get(id)?.text ?? null)];
    this.#remember({ ...base, text: words, mentionsAssistant: false }, message);
    const changed = `${id}-${Date.parse(editedAt)}`;
    const correction = { ...base, id: changed, text: '', notes, isContext: true };
    await events.onMessage({ ...correction, mentionsAssistant: false });
  }

  /** Keeps a few messages in mind: of one that is deleted, Discord tells nothing but its id. */
  #remember(readable: InboundMessage, { id }: { readonly id: string }): void {
    if (readable.id !== id) return;
    this.#lately.delete(id);
    this.#lately.set(id, readable);
    const [oldest] = this.#lately.keys();
    if (this.#lately.size > REMEMBERED && oldest !== undefined) this.#lately.delete(oldest);
  }

  async #takeDeletion({ id }: z.output<typeof Removed>): Promise<void> {
    const message = this.#lately.get(id);
    if (message === undefined) return;
    const { notes: _, attachments: __, ...base } = message;
    const silent = { text: '', mentionsAssistant: false, isContext: true };
    const notes = [deletedNote(message.text)];
    await this.#options.events.onMessage({ ...base, ...silent, id: `${id}-deleted`, notes });
    this.#lately.delete(id);
  }

  async #takeReaction(
    { user_id: sender, channel_id: channelId, message_id: messageId, ...more }: Reaction,
    isThere: boolean,
  ): Promise<void> {
    const { allowFrom, events, owner, places, sent } = this.#options;
    if (sender === this.#me.id || !isAllowed(allowFrom, sender)) return;
    const { chatId } = await places.of(channelId, more.guild_id ?? null);
    const jid = jidOf(chatId);
    const id = sent.idOf(jid, farIdOf({ channelId, messageId }));
    if (id === null) return;
    const { id: emojiId, name } = more.emoji;
    const shown = emojiId == null ? (name ?? null) : `:${name ?? 'emoji'}:`;
    const emoji = isThere ? shown : null;
    await events.onReaction?.({ jid, sender, isOwner: sender === owner, messageId: id, emoji });
  }

  #isForUs({ type, user, member }: FarInteraction): boolean {
    const sender = (member?.user ?? user)?.id;
    const isOurs = type === COMMAND || type === COMPONENT;
    return isOurs && sender !== undefined && isAllowed(this.#options.allowFrom, sender);
  }

  async #takeInteraction(interaction: FarInteraction): Promise<void> {
    const { events, places, owner, api } = this.#options;
    const person = interaction.member?.user ?? interaction.user;
    const guildId = interaction.guild_id ?? null;
    if (person == null) return;
    if (!this.#isForUs(interaction)) {
      if (guildId === null) await events.onStranger?.(person.id);
      return;
    }
    const place = await places.of(interaction.channel_id, guildId);
    if (interaction.type === COMMAND) return await this.#takeCommand(interaction, place);
    const isOwner = person.id === owner;
    const choice = choiceIn(interaction, { chatId: place.chatId, sender: person.id, isOwner });
    if (choice === null) return;
    const outcome = (await events.onChoice?.(choice)) ?? 'closed';
    // What people see of it may come later than the next event.
    if (await this.#isAcknowledged(interaction)) void showOutcome(api, interaction, outcome);
  }

  async #takeCommand(interaction: FarInteraction, place: Place): Promise<void> {
    const { events, interactions, owner, heardIn } = this.#options;
    const author = interaction.member?.user ?? interaction.user;
    if (author == null) return;
    const { id, member, channel_id: channelId } = interaction;
    await this.#reportChat(place, author.id, nameOf(author));
    const base = baseOf({ id, author, member }, { place, owner });
    heardIn(base.jid, channelId);
    if (await this.#isAcknowledged(interaction)) {
      interactions.keep(base.jid, id, addressOf(interaction));
    }
    await events.onMessage({ ...base, text: typedCommand(interaction), mentionsAssistant: true });
  }

  async #isAcknowledged({ id }: FarInteraction): Promise<boolean> {
    const isAcknowledged = (await this.#acknowledging.get(id)) ?? false;
    this.#acknowledging.delete(id);
    return isAcknowledged;
  }

  async #reportChat(place: Place, author: string, authorName: string): Promise<void> {
    const { events, owner } = this.#options;
    const { isDirect } = place;
    const jid = jidOf(place.chatId);
    const name = isDirect ? authorName : place.name;
    if (this.#chats.has(jid) && (name === null || this.#chats.get(jid) === name)) return;
    const isOwners = isDirect && author === owner;
    await events.onChat({ jid, name, isDirect, ...(isOwners ? { isOwners } : {}) });
    this.#chats.set(jid, name);
  }
}

type Reaction = z.output<typeof Reacted>;
