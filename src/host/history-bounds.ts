import { momentOf } from './scheduler/calendar.ts';

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
