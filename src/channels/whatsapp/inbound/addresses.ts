import { z } from 'zod';
import type { LinkDatabase } from '../session/link-database.ts';

const Row = z.object({ chat: z.string() });
const AddressRow = z.object({ jid: z.string() });
const MergeRow = z
  .object({ from_chat: z.string(), to_chat: z.string() })
  .transform((row) => ({ from: row.from_chat, to: row.to_chat }));

/**
 * A person has two addresses on WhatsApp, by phone number and by LID, and messages come under either. Here each
 * person has one address for everything. It stays the same, with one exception: if two addresses counted as two
 * people, both then get the one of the phone number.
 */
export interface Addresses {
  /**
   * The address that a person or chat goes by.
   *
   * @param jid as written in the message
   * @param other the person's other address, where the message carries it
   */
  chatOf(jid: string, other?: string | null): string;
  /** Does the same for a person who is only mentioned; null for one who is unknown. */
  find(jid: string): string | null;
  /** Returns all addresses of a person or chat that goes by this one. */
  allOf(chat: string): readonly string[];
  /** Two addresses belong to one person. */
  join(jid: string, other: string): void;
  /** Pairs of addresses that turned out to be one person's, oldest first. */
  merges(): readonly Merge[];
  /** Marks a merge as done everywhere. */
  forgetMerge(merge: Merge): void;
}

/** Moves a chat from an address that is out of use to the one that stays. */
export type Merge = { readonly from: string; readonly to: string };

export function openAddresses({ database }: LinkDatabase): Addresses {
  const find = database.prepare('SELECT chat FROM addresses WHERE jid = ?');
  const all = database.prepare('SELECT jid FROM addresses WHERE chat = ?');
  const insert = database.prepare(
    'INSERT INTO addresses (jid, chat) VALUES (?, ?) ON CONFLICT (jid) DO UPDATE SET chat = excluded.chat',
  );
  const known = (jid: string): string | null => Row.optional().parse(find.get(jid))?.chat ?? null;

  const move = database.prepare('UPDATE addresses SET chat = :to WHERE chat = :from');
  const insertMerge = database.prepare(
    'INSERT OR REPLACE INTO merges (from_chat, to_chat) VALUES (:from, :to)',
  );
  const allMerges = database.prepare('SELECT from_chat, to_chat FROM merges');
  const deleteMerge = database.prepare(
    'DELETE FROM merges WHERE from_chat = :from AND to_chat = :to',
  );
  const moveOwn = ['media', 'sent'].map((table) =>
    database.prepare(`UPDATE OR IGNORE ${table} SET jid = :to WHERE jid = :from`),
  );
  let openMerges = z.array(MergeRow).parse(allMerges.all());

  /** @returns the address that stays */
  function merge(one: string, other: string): string {
    const [from, to] = isPhone(other) && !isPhone(one) ? [one, other] : [other, one];
    for (const statement of [move, insertMerge, ...moveOwn]) statement.run({ from, to });
    openMerges = [...openMerges, { from, to }];
    return to;
  }

  function keep(jid: string, chat: string): void {
    if (known(jid) !== chat) insert.run(jid, chat);
  }

  const chatOf = database.transaction((given: string, otherGiven?: string | null): string => {
    const jid = withoutDevice(given);
    if (!isPerson(jid)) return jid;
    const other = otherGiven ? withoutDevice(otherGiven) : null;
    const hasOther = other !== null && isPerson(other);
    // The address of the first message stays, also where it was a LID: the chat is known by it.
    const [own, others] = [known(jid), hasOther ? known(other) : null];
    const areTwo = own !== null && others !== null && own !== others;
    const first = areTwo ? merge(own, others) : (own ?? others);
    const chat = first ?? (hasOther && isPhone(other) ? other : jid);
    keep(jid, chat);
    if (hasOther) keep(other, chat);
    return chat;
  });
  return {
    chatOf,
    find: (jid) => known(withoutDevice(jid)),
    allOf: (chat) => all.all(chat).map((row) => AddressRow.parse(row).jid),
    join: (jid, other) => void chatOf(jid, other),
    merges: () => openMerges,
    forgetMerge(merge) {
      if (database.open) deleteMerge.run(merge);
      openMerges = openMerges.filter((each) => each !== merge);
    },
  };
}

/** Returns the address that belongs to a phone number, in digits and with the country's. */
export function addressOf(phoneNumber: string): string {
  return `${phoneNumber}@s.whatsapp.net`;
}

/** `4915…:3@s.whatsapp.net` is the third device of a person. */
function withoutDevice(jid: string): string {
  return jid.replace(/[:_]\d+@/, '@').replace(/@c\.us$/, '@s.whatsapp.net');
}

function isPerson(jid: string): boolean {
  return isPhone(jid) || jid.endsWith('@lid');
}

function isPhone(jid: string): boolean {
  return jid.endsWith('@s.whatsapp.net');
}
