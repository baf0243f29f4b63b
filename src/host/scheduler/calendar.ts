import { Cron } from 'croner';
import { TaskRefused } from './task-refused.ts';

/**
 * Returns the next time of a cron pattern after a moment, in milliseconds since the epoch; null for never.
 *
 * A pattern that names its hours comes once a day at each time it names: a time that the clocks skip comes
 * when they have moved on, one that they repeat comes the first time. A pattern for every hour (`*`) goes by
 * elapsed time instead, through the repeated hour as through any other.
 *
 * @throws TaskRefused when the pattern is none of five fields
 */
export function nextCronTime(pattern: string, timeZone: string, after: number): number | null {
  try {
    const options = { timezone: timeZone, mode: '5-part', fixedTimeRule: 'no-wildcard' } as const;
    return new Cron(namedTimes(pattern), options).nextRun(new Date(after))?.getTime() ?? null;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : '';
    throw new TaskRefused(
      `"${pattern}" is not a cron pattern (${reason}). It has five fields: minute, hour, day of the month, month, day of the week; "30 8 * * 1-5" is 08:30 from Monday to Friday.`,
    );
  }
}

/**
 * Returns the moment at which the clocks of a time zone show `local` (`2026-12-24T18:00:00`): the first one
 * where they show it twice, the one as long after the change where they skip it.
 */
export function momentOf(local: string, timeZone: string): number | null {
  return new Cron(local, { timezone: timeZone }).nextRun(new Date(0))?.getTime() ?? null;
}

/**
 * Writes the steps of a pattern's minutes and hours as lists where it does not run at every hour.
 * croner takes any step for elapsed time, and such a task would run twice or not at all.
 */
function namedTimes(pattern: string): string {
  const fields = pattern.trim().split(/\s+/);
  const [minute = '', hour = '', ...days] = fields;
  if (fields.length !== 5 || hour === '*') return pattern;
  return [listed(minute, 59), listed(hour, 23), ...days].join(' ');
}

function listed(field: string, last: number): string {
  return field
    .split(',')
    .map((part) => {
      const match = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
      const [, from = '0', upto = String(last), step = '1'] = match ?? [];
      const isPlain = match === null || (!part.includes('*') && !part.includes('/'));
      // Whatever croner would refuse is left for it to refuse.
      if (isPlain || Number(upto) > last || Number(step) === 0) return part;
      const values: number[] = [];
      for (let value = Number(from); value <= Number(upto); value += Number(step))
        values.push(value);
      return values.length === 0 ? part : values.join(',');
    })
    .join(',');
}
