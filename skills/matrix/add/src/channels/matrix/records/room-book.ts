import { z } from 'zod';
import type { OwnDatabase } from '../../../lib/own-database.ts';

/** The table of rooms, in the channel's database. */
export const ROOM_MIGRATION = `CREATE TABLE room (
   id TEXT PRIMARY KEY, name TEXT, direct INTEGER NOT NULL, encrypted INTEGER NOT NULL, owners INTEGER NOT NULL,
   members INTEGER, told INTEGER NOT NULL
 ) STRICT;`;

const Row = z
  .object({
    id: z.string(),
    name: z.string().nullable(),
    direct: z.int(),
    encrypted: z.int(),
    owners: z.int(),
    members: z.int().nullable(),
    told: z.int(),
  })
  .transform(({ direct, encrypted, owners, told, ...others }) => ({
    ...others,
    isDirect: direct === 1,
    isEncrypted: encrypted === 1,
    isOwners: owners === 1,
    isTold: told === 1,
  }));

/**
 * A room as it is known. The server tells of it once, and later only of changes.
 */
export type Room = {
  readonly id: string;
  readonly name: string | null;
  /** Made as a chat of two, by whoever invited the account. */
  readonly isDirect: boolean;
  /** Never false again. */
  readonly isEncrypted: boolean;
  /** The owner's own chat with the assistant. */
  readonly isOwners: boolean;
  /** People in it, the account among them. */
  readonly members: number | null;
  /** It was said there that the room is encrypted and cannot be read. */
  readonly isTold: boolean;
};

/** The rooms that the account is or was in. */
export interface RoomBook {
  of(id: string): Room | null;
  /** Notes what is new of a room, and returns all that is known. */
  note(id: string, news: Partial<Omit<Room, 'id'>>): Room;
  hasEncrypted(): boolean;
  /** Tells whether a room is the owner's own chat already. */
  hasOwners(): boolean;
}

const NEW = {
  name: null,
  isDirect: false,
  isEncrypted: false,
  isOwners: false,
  members: null,
  isTold: false,
};

/** Opens the book, in a database that has the table for it. */
export function openRoomBook(database: OwnDatabase): RoomBook {
  const find = database.prepare('SELECT * FROM room WHERE id = ?');
  const replace = database.prepare(
    `INSERT OR REPLACE INTO room (id, name, direct, encrypted, owners, members, told)
     VALUES (:id, :name, :direct, :encrypted, :owners, :members, :told)`,
  );
  const encrypted = database.prepare('SELECT 1 FROM room WHERE encrypted = 1 LIMIT 1');
  const owners = database.prepare('SELECT 1 FROM room WHERE owners = 1 LIMIT 1');
  const known = new Map<string, Room>();
  let isAnyEncrypted = encrypted.get() !== undefined;

  function of(id: string): Room | null {
    const room = known.get(id) ?? Row.optional().parse(find.get(id)) ?? null;
    if (room !== null) known.set(id, room);
    return room;
  }

  return {
    of,
    note(id, news) {
      const before = of(id);
      const room: Room = { id, ...NEW, ...before, ...news };
      const isEncrypted = room.isEncrypted || before?.isEncrypted === true;
      const whole = { ...room, isEncrypted };
      if (before !== null && isSame(before, whole)) return before;
      replace.run({
        id,
        name: whole.name,
        members: whole.members,
        direct: Number(whole.isDirect),
        encrypted: Number(whole.isEncrypted),
        owners: Number(whole.isOwners),
        told: Number(whole.isTold),
      });
      known.set(id, whole);
      isAnyEncrypted ||= isEncrypted;
      return whole;
    },
    hasEncrypted: () => isAnyEncrypted,
    hasOwners: () => owners.get() !== undefined,
  };
}

function isSame(one: Room, other: Room): boolean {
  return (Object.keys(one) as (keyof Room)[]).every((key) => one[key] === other[key]);
}
