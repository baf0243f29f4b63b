import { timeFormat } from '../../lib/time-format.ts';

/**
 * Returns the day that the clocks of a time zone show: `2026-11-21`. Twice a year it is 23 or 25 hours long.
 */
export function localDay(moment: number, timeZone: string): string {
  return timeFormat('sv-SE', { timeZone }).format(moment);
}
