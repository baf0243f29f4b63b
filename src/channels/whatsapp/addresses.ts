import { z } from 'zod';
import type { Vault } from './vault.ts';

const Row = z.object({ chat: z.string() });

/**
 * A person has two addresses on WhatsApp, by phone number and by LID, and messages come under either.
 * Here each person has one address that everything else goes by, and keeps it for good.
 */
export interface Addresses {
  /**
   * The address that a person or chat goes by.
   *
   * @param jid as it stands in the message
   * @param other the person's other address, where the message carries it
   */
  chatOf(jid: string, other?: string | null): string;
  /** The same for somebody who is only spoken of, or null where they are unknown. */
  find(jid: string): string | null;
  /** Two addresses belong to one person. */
  join(jid: string, other: string): void;
}

export function addressesIn({ database }: Vault): Addresses {
  const find = database.prepare('SELECT chat FROM addresses WHERE jid = ?');
  const insert = database.prepare(
    'INSERT INTO addresses (jid, chat) VALUES (?, ?) ON CONFLICT (jid) DO UPDATE SET chat = excluded.chat',
  );
  const known = (jid: string): string | null => Row.optional().parse(find.get(jid))?.chat ?? null;

  function keep(jid: string, chat: string): void {
    if (known(jid) !== chat) insert.run(jid, chat);
  }

  const chatOf = database.transaction((given: string, otherGiven?: string | null): string => {
    const jid = withoutDevice(given);
    if (!isPerson(jid)) return jid;
    const other = otherGiven ? withoutDevice(otherGiven) : null;
    const hasOther = other !== null && isPerson(other);
    // The address of the first message stays, also where it was a LID: the chat is known by it.
    const first = known(jid) ?? (hasOther ? known(other) : null);
    const chat = first ?? (hasOther && isPhone(other) ? other : jid);
    keep(jid, chat);
    if (hasOther) keep(other, chat);
    return chat;
  });
  return {
    chatOf,
    find: (jid) => known(withoutDevice(jid)),
    join: (jid, other) => void chatOf(jid, other),
  };
}

/** The address that belongs to a phone number, in digits and with the country's. */
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
