import { z } from 'zod';
import { defineInboundFilter, type FilterResult } from '../host/contracts/inbound-filter.ts';
import { wholeNumber } from '../lib/setting-values.ts';
import { examineNames, examineText } from './sanitizer/examine-text.ts';
import { countMarks, MIGRATIONS } from './sanitizer/mark-counts.ts';

const LONGEST_ID_BYTES = 256;
const PASS: FilterResult = { kind: 'pass' };

/**
 * Marks messages that hold something hidden, or words with which assistants are talked out of what they are
 * for. The message goes on: the agent is told what in it is material.
 */
export const filter = defineInboundFilter({
  name: 'sanitizer',
  order: 200,
  onFailure: 'pass',
  settings: z.object({ SANITIZER_LONGEST: wholeNumber(0, 250_000).default(0) }),
  create({ settings: { SANITIZER_LONGEST: longest }, openDatabase, now }) {
    const database = openDatabase(MIGRATIONS);
    return (message) => {
      const { isOwner, id } = message.sender;
      if (!isId(id)) return { kind: 'drop', reason: 'the id of its sender is none' };
      const isTooLong = longest > 0 && !isOwner && message.text.length > longest;
      const given = isTooLong ? wholeCharacters(message.text.slice(0, longest)) : message.text;
      const { text, kinds, remarks } = examineText(given, isOwner ? 'owner' : 'member');
      const files = message.attachments.flatMap(({ name }) => name ?? []);
      const named = examineNames(isOwner ? files : [message.sender.name ?? '', ...files]);
      const found = [...kinds, ...named.kinds];
      const all = isTooLong ? [...found, 'too long'] : found;
      if (all.length === 0) return PASS;
      countMarks(database, all, now());
      const cut = `Cut after ${given.length} of ${message.text.length} characters.`;
      const note = [...(isTooLong ? [cut] : []), ...named.remarks, ...remarks].join(' ');
      return text === message.text ? { kind: 'change', note } : { kind: 'change', text, note };
    };
  },
});

/** Tells whether a text can be the id of a person: no channel gives one that is empty, long or has control characters. */
function isId(id: string): boolean {
  return id !== '' && Buffer.byteLength(id) <= LONGEST_ID_BYTES && !/\p{Cc}/u.test(id);
}

function wholeCharacters(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
