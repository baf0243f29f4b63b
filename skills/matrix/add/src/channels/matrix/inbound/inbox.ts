import { z } from 'zod';
import type { ChannelClock, ChannelEvents, ChannelLog, InboundMessage } from '../../channel.ts';
import { isAllowed } from '../../kit/allow-list.ts';
import {
  answerNote,
  correctedNote,
  deletedNote,
  happenedNote,
  unknownNote,
} from '../../kit/notes.ts';
import type { SentMessages } from '../../kit/sent-messages.ts';
import { type MatrixApi, pathOf } from '../api.ts';
import { choiceIn } from '../choices.ts';
import type { Encryption } from '../encryption/encryption.ts';
import { jidOf } from '../jid.ts';
import type { Books } from '../records/books.ts';
import type { Room } from '../records/room-book.ts';
import type { MatrixSettings } from '../settings.ts';
import { fileIn, type Me, mentions, notesIn, pollIn, wordsIn } from './content.ts';
import { Message, RoomEvent, relationOf } from './event.ts';
import { type Members, memberNote } from './members.ts';
import type { Rooms } from './rooms.ts';

export type InboxOptions = {
  readonly api: MatrixApi;
  readonly settings: MatrixSettings;
  readonly me: Me;
  readonly events: ChannelEvents;
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
  readonly books: Books;
  readonly rooms: Rooms;
  readonly members: Members;
  readonly sent: Pick<SentMessages, 'idOf'>;
  readonly encryption: Encryption;
  /** Says something in a room once, under an id of its own. Never rejects. */
  readonly say: (roomId: string, id: string, text: string) => Promise<void>;
};

/** A key that comes later than this is waited for no longer in silence. */
const PATIENCE_MS = 20_000;
const REMEMBERED = 500;

/** To be known about, and not to be answered. */
const SILENT = { text: '', mentionsAssistant: false, isContext: true } as const;

/** Hands what is said in rooms to the host. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #chats = new Map<string, string | null>();
  readonly #lately = new Map<string, string>();

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the host has stored what is in an event, or there is nothing to store. Rejects when it did not store
   * it; the event must then come again.
   */
  async take(roomId: string, found: unknown): Promise<void> {
    const { data: event } = RoomEvent.safeParse(found);
    if (event === undefined) {
      this.#options.log.info('an event of Matrix could not be read');
      return;
    }
    if (event.sender === this.#options.me.userId) return;
    if (event.type === 'm.room.member') return await this.#takeMember(roomId, event);
    if (event.state_key !== undefined) return;
    if (event.type === 'm.room.encrypted') return await this.#takeEncrypted(roomId, event, found);
    await this.#takePlain(roomId, event);
  }

  /** Tells who came or left, where somebody who may write did that: themselves, or with another. */
  async #takeMember(roomId: string, event: RoomEvent): Promise<void> {
    const { settings, rooms, members, me, events } = this.#options;
    const room = rooms.of(roomId);
    const isOwn = event.state_key === me.userId;
    if (isOwn || !isAllowed(settings.allowFrom, event.sender)) return;
    if (rooms.isDirect(room) || !this.#isHeard(room)) return;
    const note = memberNote(event, (userId) => members.nameOf(roomId, userId));
    if (note === null) return;
    await this.#reportChat(room, event.sender);
    await events.onMessage({ ...this.#base(room, event), ...SILENT, notes: [note] });
  }

  /** Tries events once more whose key had not arrived. */
  async takeHeld(): Promise<void> {
    const { books, clock, encryption, say } = this.#options;
    const all = books.held.all();
    const machine = all.length === 0 ? null : await encryption.machine();
    if (machine === null) return;
    for (const { room, id, event: text, heldAt, isTold } of all) {
      const decrypted = await machine.decrypt(JSON.parse(text), room);
      if (decrypted.kind === 'decrypted') {
        const event = RoomEvent.safeParse(decrypted.event).data;
        if (event !== undefined) await this.#takePlain(room, event);
        books.held.release(id);
      } else if (!isTold && clock.now() - heldAt > PATIENCE_MS) {
        books.held.tell(room);
        await say(room, `unread ${id}`, NO_KEY);
      }
    }
  }

  async #takeEncrypted(roomId: string, event: RoomEvent, found: unknown): Promise<void> {
    const { settings, encryption, books, rooms, events, say } = this.#options;
    if (!isAllowed(settings.allowFrom, event.sender)) {
      if (rooms.isDirect(rooms.of(roomId))) await events.onStranger?.(event.sender);
      return;
    }
    // Never taken back, so that no stranger may do it: otherwise the room's own state tells.
    const room = rooms.note(roomId, { isEncrypted: true });
    if (!this.#isHeard(room)) return;
    const machine = await encryption.open();
    if (machine === null) {
      // In the clear, because it cannot be said otherwise; it says nothing but that.
      if (!room.isTold && encryption.problem !== null) {
        rooms.note(roomId, { isTold: true });
        await say(roomId, `encrypted ${roomId}`, capital(encryption.problem));
      }
      return;
    }
    const decrypted = await machine.decrypt(found, roomId);
    if (decrypted.kind === 'no key') {
      books.held.hold({ room: roomId, id: event.event_id, event: JSON.stringify(found) });
      return;
    }
    const { data: plain } = RoomEvent.safeParse(decrypted.event);
    if (plain !== undefined) await this.#takePlain(roomId, plain);
  }

  async #takePlain(roomId: string, event: RoomEvent): Promise<void> {
    const { settings, events, rooms } = this.#options;
    const { sender } = event;
    const room = rooms.of(roomId);
    if (!isAllowed(settings.allowFrom, sender)) {
      if (rooms.isDirect(room) && isSpoken(event)) await events.onStranger?.(sender);
      return;
    }
    if (!this.#isHeard(room)) return;
    switch (event.type) {
      case 'm.room.message':
      case 'm.sticker':
        return await this.#takeMessage(room, event);
      case 'm.poll.start':
      case 'org.matrix.msc3381.poll.start':
        return await this.#takePoll(
          room,
          event,
          pollIn(event.content) ?? unknownNote('poll'),
          false,
        );
      case 'm.poll.end':
      case 'org.matrix.msc3381.poll.end':
        return await this.#takePoll(room, event, happenedNote('a poll was closed'), true);
      case 'm.reaction':
        return await this.#takeReaction(room, event);
      case 'm.room.redaction':
        return await this.#takeRedaction(room, event);
    }
  }

  /** Rooms that the owner has not listed are not listened to, where there is a list. */
  #isHeard(room: Room): boolean {
    const { settings, rooms } = this.#options;
    const { policy } = settings;
    return policy !== 'allowlist' || rooms.isDirect(room) || settings.rooms.includes(room.id);
  }

  async #takeMessage(room: Room, event: RoomEvent): Promise<void> {
    const { me, events, settings, books } = this.#options;
    const sticker = event.type === 'm.sticker' ? { msgtype: 'm.sticker' } : {};
    const { data: message } = Message.safeParse({ ...event.content, ...sticker });
    // Notices are what machines say, which are not to be answered.
    if (message === undefined || message.msgtype === 'm.notice') return;
    const relation = relationOf(event.content);
    if (relation.rel_type === 'm.replace') return await this.#takeCorrection(room, event);
    const file = fileIn(message);
    const text = wordsIn(message, me);
    const own = notesIn(message);
    if (text === '' && file === null && own.length === 0) return;
    await this.#reportChat(room, event.sender);
    const answered = await this.#answered(room, relation);
    const notes = [...own, ...(answered.note === null ? [] : [answered.note])];
    this.#remember(event.event_id, text);
    const base = this.#base(room, event);
    if (file !== null) books.files.keep(base.jid, base.id, file.reference);
    const isCalled = settings.policy !== 'mention' || mentions(message, me) || answered.isOurs;
    await events.onMessage({
      ...base,
      text,
      ...(notes.length === 0 ? {} : { notes }),
      mentionsAssistant: isCalled,
      ...(file === null ? {} : { attachments: [file.attachment] }),
    });
  }

  async #takeCorrection(room: Room, event: RoomEvent): Promise<void> {
    const { me, events } = this.#options;
    const { data: message } = Message.safeParse(event.content['m.new_content']);
    const words = message === undefined ? '' : wordsIn(message, me);
    if (words === '') return;
    const of = relationOf(event.content).event_id ?? '';
    const notes = [correctedNote(words, this.#lately.get(of) ?? null)];
    this.#remember(of, words);
    await events.onMessage({ ...this.#base(room, event), ...SILENT, notes });
  }

  async #takePoll(room: Room, event: RoomEvent, note: string, isContext: boolean): Promise<void> {
    const { settings, events } = this.#options;
    await this.#reportChat(room, event.sender);
    const base = { ...this.#base(room, event), text: '', notes: [note] };
    const mentionsAssistant = !isContext && settings.policy !== 'mention';
    await events.onMessage({ ...base, mentionsAssistant, ...(isContext ? { isContext } : {}) });
  }

  /** Keeps the words of the last messages: an edit or a deletion names only their id. */
  #remember(id: string, words: string): void {
    this.#lately.delete(id);
    this.#lately.set(id, words);
    const [oldest] = this.#lately.keys();
    if (this.#lately.size > REMEMBERED && oldest !== undefined) this.#lately.delete(oldest);
  }

  async #takeReaction(room: Room, event: RoomEvent): Promise<void> {
    const { events, settings, sent, books } = this.#options;
    const { sender } = event;
    const { rel_type: kind, event_id: farId, key } = relationOf(event.content);
    if (kind !== 'm.annotation' || farId === undefined || key === undefined) return;
    const jid = jidOf(room.id);
    const isOwner = sender === settings.owner;
    const choice = choiceIn(books.questions.asked(farId), key);
    if (choice !== null) {
      await events.onChoice?.({ jid, sender, isOwner, ...choice });
      return;
    }
    const messageId = sent.idOf(jid, farId);
    if (messageId === null) return;
    books.questions.put(event.event_id, messageId);
    await events.onReaction?.({ jid, sender, isOwner, messageId, emoji: key });
  }

  /** Reports an emoji that was taken away, or a message; that is answered all the same. */
  async #takeRedaction(room: Room, event: RoomEvent): Promise<void> {
    const { events, settings, books } = this.#options;
    const target = event.redacts ?? event.content['redacts'];
    const messageId = typeof target === 'string' ? books.questions.putOn(target) : null;
    if (messageId === null) {
      const words = typeof target === 'string' ? this.#lately.get(target) : undefined;
      if (words === undefined) return;
      const notes = [deletedNote(words)];
      await events.onMessage({ ...this.#base(room, event), ...SILENT, notes });
      return;
    }
    const { sender } = event;
    const isOwner = sender === settings.owner;
    await events.onReaction?.({ jid: jidOf(room.id), sender, isOwner, messageId, emoji: null });
  }

  /** Looks at what a message answers. Our own words are quoted as well: the conversation may not hold them any more. */
  async #answered(
    room: Room,
    relation: ReturnType<typeof relationOf>,
  ): Promise<{ readonly isOurs: boolean; readonly note: string | null }> {
    const { api, sent, me, members, encryption } = this.#options;
    const farId = relation['m.in_reply_to']?.event_id;
    const none = { isOurs: false, note: null };
    // In a thread, apps that know none are shown the last message there.
    if (farId === undefined || relation.is_falling_back === true) return none;
    const isSent = sent.idOf(jidOf(room.id), farId) !== null;
    try {
      const found = await api.call('GET', pathOf`/rooms/${room.id}/event/${farId}`);
      const machine = room.isEncrypted ? await encryption.machine() : null;
      const decrypted = await machine?.decrypt(found, room.id);
      const whole = decrypted?.kind === 'decrypted' ? decrypted.event : found;
      const event = RoomEvent.parse(whole);
      const isOurs = isSent || event.sender === me.userId;
      const sticker = event.type === 'm.sticker' ? { msgtype: 'm.sticker' } : {};
      const message = Message.parse({ ...event.content, ...sticker });
      const file = fileIn(message);
      const content = [...notesIn(message), ...(file === null ? [] : [file.attachment.kind])];
      const note = answerNote({
        from: isOurs ? me.assistantName : members.nameOf(room.id, event.sender),
        words: wordsIn(message, me),
        content: content.join(', '),
        fileId: file === null ? null : farId,
      });
      return { isOurs, note };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { isOurs: isSent, note: null }; // Without the quotation it is a message all the same.
    }
  }

  /** The parts of a message that do not depend on what it says. */
  #base(room: Room, event: RoomEvent): Omit<InboundMessage, 'text' | 'mentionsAssistant'> {
    const { members, rooms, settings } = this.#options;
    const { sender, event_id: id, origin_server_ts: sentAt, content } = event;
    const senderName = members.nameOf(room.id, sender);
    const isDirect = rooms.isDirect(room);
    const { rel_type: kind, event_id: root } = relationOf(content);
    return {
      id,
      jid: jidOf(room.id),
      chatName: isDirect ? senderName : room.name,
      isDirect,
      sender,
      senderName,
      isOwner: sender === settings.owner,
      sentAt,
      ...(kind === 'm.thread' && root !== undefined ? { thread: root } : {}),
    };
  }

  async #reportChat(room: Room, sender: string): Promise<void> {
    const { events, members, rooms, settings, books } = this.#options;
    const isDirect = rooms.isDirect(room);
    const name = isDirect ? members.nameOf(room.id, sender) : room.name;
    const jid = jidOf(room.id);
    if (this.#chats.has(jid) && (name === null || this.#chats.get(jid) === name)) return;
    // One room alone is the owner's own chat: the first in which they write.
    const isFirst = isDirect && sender === settings.owner && !books.rooms.hasOwners();
    const isOwners = isDirect && (room.isOwners || isFirst);
    await events.onChat({ jid, name, isDirect, ...(isOwners ? { isOwners } : {}) });
    if (isFirst) rooms.note(room.id, { isOwners: true });
    this.#chats.set(jid, name);
  }
}

const NO_KEY =
  'I could not read a message in this room: its key has not reached me. Please write it again.';

const Spoken = z.enum(['m.room.message', 'm.sticker']);

function isSpoken({ type }: RoomEvent): boolean {
  return Spoken.safeParse(type).success;
}

function capital(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}
