import { timeFormat } from '../../lib/time-format.ts';

/**
 * Returns a moment as the clocks of a time zone show it: `Mon 23 Nov 2026, 08:00`. In a zone that is not
 * known any more it is UTC, and says so: a list must not break on one task.
 */
export function localTime(moment: number, timeZone: string): string {
  try {
    return formatted(moment, timeZone);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${formatted(moment, 'UTC')} UTC`;
  }
}

function formatted(moment: number, timeZone: string): string {
  const parts = timeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(moment);
  const part = (type: string): string => parts.find((each) => each.type === type)?.value ?? '';
  const day = `${part('weekday')} ${part('day')} ${part('month')} ${part('year')}`;
  return `${day}, ${part('hour')}:${part('minute')}`;
}

/** The same for a program to read: `2026-11-23 08:00:00`. */
export function clockTime(moment: number, timeZone: string): string {
  return new Date(moment).toLocaleString('sv-SE', { timeZone });
}
