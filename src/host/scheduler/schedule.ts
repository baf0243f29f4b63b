import type { TaskSchedule } from '../../store/store.ts';
import { momentOf, nextCronTime } from './calendar.ts';
import { describeDuration, parseDuration } from './duration.ts';
import { localTime } from './local-time.ts';
import { TaskRefused } from './task-refused.ts';
import { checkTimeZone } from './time-zone.ts';

/** A schedule as it was written by an owner or agent. */
export type WrittenSchedule = {
  readonly kind: TaskSchedule['kind'];
  readonly text: string;
  readonly timeZone: string;
};

const MIN_EVERY_MS = 60_000;

/**
 * Checks a schedule and anchors it.
 *
 * @throws TaskRefused when it cannot be read, has no time to come, or is more often than every minute
 */
export function readSchedule(written: WrittenSchedule, now: number): TaskSchedule {
  const timeZone = checkTimeZone(written.timeZone);
  const text = written.text.trim();
  const schedule = { ...anchored({ kind: written.kind, text, timeZone }, now), timeZone };
  if (nextRunAfter(schedule, now) === null) throw new TaskRefused(neverComes(schedule, now));
  return schedule;
}

/**
 * Returns the next time of a schedule after a moment; null if there is none.
 *
 * @throws TaskRefused when the schedule cannot be read
 */
export function nextRunAfter(schedule: TaskSchedule, after: number): number | null {
  const { kind, text, timeZone, anchor } = schedule;
  if (kind === 'cron') return nextCronTime(text, timeZone, after);
  if (kind === 'at') return anchor > after ? anchor : null;
  const everyMs = readInterval(text);
  return anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs;
}

/** Returns a schedule in words: `every 2 hours`, `once at …`, `cron 30 8 * * 1-5 (Europe/Berlin)`. */
export function describeSchedule({ kind, text, timeZone, anchor }: TaskSchedule): string {
  if (kind === 'every') return `every ${text}`;
  if (kind === 'at') return `once at ${localTime(anchor, timeZone)} (${timeZone})`;
  return `cron ${text} (${timeZone})`;
}

function anchored(written: WrittenSchedule, now: number): Omit<TaskSchedule, 'timeZone'> {
  const { kind, text, timeZone } = written;
  if (kind === 'cron') return { kind, text, anchor: now };
  if (kind === 'at') return { kind, text, anchor: readMoment(text, timeZone, now) };
  return { kind, text: describeDuration(readInterval(text)), anchor: now };
}

function readInterval(text: string): number {
  const everyMs = parseDuration(text.replace(/^every\s+/i, ''));
  if (everyMs !== null && everyMs >= MIN_EVERY_MS) return everyMs;
  throw new TaskRefused(
    `"${text}" is not an interval of at least a minute. Write one such as "15 minutes", "2 hours" or "1 day".`,
  );
}

function readMoment(text: string, timeZone: string, now: number): number {
  const [, wait] = /^(?:in\s+|\+)(.*)$/i.exec(text) ?? [];
  const waitMs = wait === undefined ? null : parseDuration(wait);
  if (waitMs !== null) return now + waitMs;
  const match =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?:(:\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/i.exec(
      text,
    );
  const [, day = '', minutes = '', seconds = ':00', offset] = match ?? [];
  const local = `${day}T${minutes}${seconds}`;
  const asUtc = match === null ? Number.NaN : Date.parse(`${local}Z`);
  // The parser takes the 30th of February for the 2nd of March.
  const isReal = !Number.isNaN(asUtc) && new Date(asUtc).toISOString().startsWith(local);
  const moment = offset === undefined ? null : Date.parse(`${local}${isoOffset(offset)}`);
  const found = isReal ? (moment ?? momentOf(local, timeZone)) : null;
  if (found !== null && !Number.isNaN(found)) return found;
  throw new TaskRefused(
    `"${text}" is not a date and time. Write one such as "2026-12-24T18:00", or "in 20 minutes".`,
  );
}

/** Writes `+0100` and `+01` as `+01:00`, which is all that the parser takes. */
function isoOffset(offset: string): string {
  const [, sign, hours, minutes = '00'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset) ?? [];
  return sign === undefined ? 'Z' : `${sign}${hours}:${minutes}`;
}

function neverComes({ kind, text, timeZone, anchor }: TaskSchedule, now: number): string {
  if (kind !== 'at') return `"${text}" never comes.`;
  return `${localTime(anchor, timeZone)} is past: it is ${localTime(now, timeZone)} (${timeZone}) now. Name a time to come.`;
}
