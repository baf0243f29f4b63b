import { z } from 'zod';
import { type MatrixApi, MatrixFailure, pathOf } from '../api.ts';
import type { Room, RoomBook } from '../records/room-book.ts';
import { type JoinedRoom, RoomEvent, type StateEvent, textIn } from './event.ts';
import type { Members } from './members.ts';

const Direct = z.record(z.string(), z.array(z.string()));

/** Facts about rooms, from the server and on disk. */
export class Rooms {
  readonly #api: MatrixApi;
  readonly #book: RoomBook;
  readonly #members: Members;

  constructor(api: MatrixApi, book: RoomBook, members: Members) {
    this.#api = api;
    this.#book = book;
    this.#members = members;
  }

  of(roomId: string): Room {
    return this.#book.of(roomId) ?? this.#book.note(roomId, {});
  }

  note(roomId: string, news: Partial<Omit<Room, 'id'>>): Room {
    return this.#book.note(roomId, news);
  }

  hasEncrypted(): boolean {
    return this.#book.hasEncrypted();
  }

  /** Takes in the state of a room, that which comes with its messages as well. */
  noteJoined(roomId: string, { state, timeline, summary }: JoinedRoom): Room {
    for (const event of state) this.noteState(roomId, event);
    for (const found of timeline.events) {
      const { data: event } = RoomEvent.safeParse(found);
      if (event?.state_key === undefined) continue;
      this.noteState(roomId, { ...event, state_key: event.state_key });
    }
    const count = summary['m.joined_member_count'];
    return this.note(roomId, count === undefined ? {} : { members: count });
  }

  noteState(roomId: string, event: StateEvent): void {
    this.#members.note(roomId, event);
    const { type, content } = event;
    if (type === 'm.room.encryption') this.note(roomId, { isEncrypted: true });
    if (type === 'm.room.name') {
      this.note(roomId, { name: textIn(content, 'name')?.trim() || null });
    }
    if (type === 'm.room.canonical_alias' && this.of(roomId).name === null) {
      this.note(roomId, { name: textIn(content, 'alias') });
    }
  }

  /** Takes in the account's own list of its chats of two. */
  noteDirect(events: readonly StateEvent[]): void {
    const listed = events.find(({ type }) => type === 'm.direct');
    const { data = {} } = Direct.safeParse(listed?.content);
    for (const roomId of Object.values(data).flat()) this.note(roomId, { isDirect: true });
  }

  /** Tells whether nobody else hears what is said in a room. */
  isDirect({ isDirect, members }: Room): boolean {
    return isDirect && (members ?? 2) <= 2;
  }

  /** Tells whether a room is encrypted; asks the server about one that was never heard of. */
  async isEncrypted(roomId: string): Promise<boolean> {
    const room = this.#book.of(roomId);
    if (room !== null) return room.isEncrypted;
    try {
      await this.#api.call('GET', pathOf`/rooms/${roomId}/state/m.room.encryption/`);
      this.note(roomId, { isEncrypted: true });
      return true;
    } catch (error) {
      if (error instanceof MatrixFailure && error.errcode === 'M_NOT_FOUND') return false;
      throw error;
    }
  }
}
