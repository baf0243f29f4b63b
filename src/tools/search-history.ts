import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { momentOf } from '../host/scheduler/calendar.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { oneLine } from '../host/scheduler/one-line.ts';

/** The most characters shown of one message. */
const SHOWN = 500;

const Input = z.object({
  query: z
    .string()
    .max(500)
    .default('')
    .describe(
      'Whole words, all of which must be in a message, in any order; "in quotes" as a phrase. Left out, everything of a time is listed',
    ),
  from: z
    .string()
    .optional()
    .describe('Earliest day or time, local: 2026-11-21 or 2026-11-21T08:00'),
  until: z.string().optional().describe('Latest day or time; a day is included whole'),
  limit: z.int().min(1).max(50).default(15),
});

export const tool = defineTool({
  name: 'search_history',
  create: () => ({
    description:
      'Finds what was said in this chat, also in earlier conversations and by you: date, sender and text, newest first. Where little is found, try other words; to read what was said around a message, ask for its day without words.',
    doing: 'searching what was said',
    isMainOnly: false,
    repeat: 'harmless',
    brings: 'outside',
    input: Input,
    async run({ caller, store, timeZone }, given) {
      const { query, limit, ...asked } = given;
      const bounds = readBounds(asked, timeZone);
      // The owner's own chats are one group.
      const chats = caller.isMain ? store.groups.mains() : [caller];
      const jids = chats.map(({ jid }) => jid);
      const found = store.search.find({ jids, text: query, ...bounds, limit: limit + 1 });
      if (found.length === 0) return 'Nothing was found. Try other words, or another time.';
      const lines = found.slice(0, limit).map(({ jid, sender, saidAt, text }) => {
        const chat = chats.length > 1 ? chats.find((each) => each.jid === jid) : undefined;
        const where = chat === undefined ? '' : ` in ${oneLine(chat.name, 60)}`;
        const who = sender === null ? 'you, the assistant' : oneLine(sender, 60);
        return `[${localTime(saidAt, timeZone)}${where}] ${who}: ${oneLine(text, SHOWN)}`;
      });
      const more = found.length > limit ? ['(and more; narrow the time, or raise the limit)'] : [];
      return [...lines, ...more].join('\n');
    },
  }),
});

const DAY_MS = 86_400_000;

/**
 * Reads the bounds of a search: days or local times. A day ends when the next one begins, which
 * daylight saving moves.
 *
 * @throws Error in words for the agent when one cannot be read
 */
export function readBounds(
  { from, until }: { readonly from?: string | undefined; readonly until?: string | undefined },
  timeZone: string,
): { readonly from: number; readonly until: number } {
  return {
    from: from === undefined ? 0 : readBound(from, timeZone).first,
    until: until === undefined ? Number.MAX_SAFE_INTEGER : readBound(until, timeZone).last,
  };
}

function readBound(text: string, timeZone: string): { first: number; last: number } {
  const [, day = '', time] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::\d{2})?)?$/.exec(text.trim()) ?? [];
  const noon = Date.parse(`${day}T12:00:00Z`);
  // The parser takes the 30th of February for the 2nd of March.
  const isReal = !Number.isNaN(noon) && new Date(noon).toISOString().startsWith(day);
  const first = !isReal ? null : momentOf(`${day}T${time ?? '00:00'}:00`, timeZone);
  const nextDay = new Date(noon + DAY_MS);
  const end =
    first === null || time !== undefined
      ? first
      : momentOf(`${nextDay.toISOString().slice(0, 10)}T00:00:00`, timeZone);
  if (first !== null && end !== null) {
    return { first, last: time === undefined ? end - 1 : end + 59_999 };
  }
  throw new Error(`"${text}" is not a date. Write one such as 2026-11-21, or 2026-11-21T08:00.`);
}
