import { z } from 'zod';
import { happenedNote, shortName } from '../../kit/notes.ts';
import { type MatrixApi, pathOf } from '../api.ts';
import { type RoomEvent, type StateEvent, textIn } from './event.ts';

const Joined = z.looseObject({ joined: z.record(z.string(), z.unknown()) });

/** The people of rooms: their names, and who is there to encrypt for. */
export class Members {
  readonly #api: MatrixApi;
  readonly #names = new Map<string, string>();
  readonly #joined = new Map<string, Promise<readonly string[]>>();

  constructor(api: MatrixApi) {
    this.#api = api;
  }

  note(
    roomId: string,
    { type, state_key: userId, content }: Pick<StateEvent, 'type' | 'state_key' | 'content'>,
  ): void {
    if (type !== 'm.room.member') return;
    this.#joined.delete(roomId);
    const name = textIn(content, 'displayname');
    if (name !== null && name.trim() !== '') this.#names.set(`${roomId} ${userId}`, name);
    else this.#names.delete(`${roomId} ${userId}`);
  }

  nameOf(roomId: string, userId: string): string {
    return this.#names.get(`${roomId} ${userId}`) ?? userId.replace(/^@([^:]*):.*$/, '$1');
  }

  /** Returns who is in a room. Rejects where the server does not say. */
  async of(roomId: string): Promise<readonly string[]> {
    const known = this.#joined.get(roomId);
    if (known !== undefined) return await known;
    const asked = this.#api
      .call('GET', pathOf`/rooms/${roomId}/joined_members`)
      .then((answer) => Object.keys(Joined.parse(answer).joined));
    this.#joined.set(roomId, asked);
    asked.catch(() => {
      if (this.#joined.get(roomId) === asked) this.#joined.delete(roomId);
    });
    return await asked;
  }
}

const Unsigned = z.looseObject({ prev_content: z.record(z.string(), z.unknown()).default({}) });

/**
 * Returns the note for what became of a member: who came, left or was removed; null for an invitation, a new name and
 * everything else.
 */
export function memberNote(
  { sender, state_key: userId = '', content, unsigned }: RoomEvent,
  nameOf: (userId: string) => string,
): string | null {
  const before = Unsigned.safeParse(unsigned).data?.prev_content ?? {};
  const wasIn = before['membership'] === 'join';
  const isIn = content['membership'] === 'join';
  if (wasIn === isIn) return null;
  // Who has left has no name in the room any more.
  const who = shortName(textIn(isIn ? content : before, 'displayname') ?? nameOf(userId));
  if (isIn) return happenedNote(`${who} joined`);
  return happenedNote(
    sender === userId ? `${who} left` : `${shortName(nameOf(sender))} removed ${who}`,
  );
}
