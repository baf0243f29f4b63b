import type { WAMessage } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { jsonWithin } from '../../../lib/bounded-json.ts';
import { text } from '../../../lib/bounded-schema.ts';
import { happenedNote, shortName } from '../../kit/notes.ts';
import type { Addresses } from './addresses.ts';

/** Knowledge for naming people. */
type Known = {
  readonly addresses: Pick<Addresses, 'find'>;
  readonly self: string;
  readonly assistantName: string;
  readonly nameOf: (person: string) => string | null;
};

/** WhatsApp's numbers of what it tells about a group's members, in `WebMessageInfo.StubType`. */
const ADDED = 27;
const REMOVED = 28;
const JOINED_BY_LINK = 31;
const LEFT = 32;

const Member = z.object({ id: text(200), phoneNumber: text(200).nullish() });

/** More are counted. */
const MOST_NAMED = 10;

/**
 * Returns the note for what WhatsApp tells of a group's members: who left, was removed, or came; null for everything
 * else.
 */
export function memberNote(
  { messageStubType: type, messageStubParameters: parameters, key }: WAMessage,
  known: Known,
): string | null {
  if (type !== ADDED && type !== REMOVED && type !== JOINED_BY_LINK && type !== LEFT) return null;
  const given: readonly unknown[] = Array.isArray(parameters) ? parameters : [];
  const members = given.flatMap((one) => {
    const member = Member.safeParse(typeof one === 'string' ? jsonWithin(one) : null).data;
    return member === undefined ? [] : [member];
  });
  if (members.length === 0) return null;
  const person = (id: string, phoneNumber?: string | null) =>
    known.addresses.find(id) ?? phoneNumber ?? id;
  const affected = members.map(({ id, phoneNumber }) => person(id, phoneNumber));
  const actor = key.participant ? person(key.participant, key.participantAlt) : null;
  const isTheirOwn = actor === null || (affected.length === 1 && affected[0] === actor);
  const names = affected.slice(0, MOST_NAMED).map((one) => nameIn(one, known));
  const more = affected.length - names.length;
  const who = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  if (type === LEFT || (type === REMOVED && isTheirOwn)) return happenedNote(`${who} left`);
  if (type === REMOVED) return happenedNote(`${nameIn(actor ?? '', known)} removed ${who}`);
  if (isTheirOwn || type === JOINED_BY_LINK) return happenedNote(`${who} joined`);
  return happenedNote(`${nameIn(actor, known)} added ${who}`);
}

function nameIn(person: string, { self, assistantName, nameOf }: Known): string {
  if (person === self) return assistantName;
  const name = nameOf(person);
  return name === null ? (person.split('@', 1)[0] ?? '') : shortName(name);
}
