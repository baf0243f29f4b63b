/** A part of the day in minutes since midnight. Where `to` is before `from`, it goes over midnight. */
export type ActiveHours = { readonly from: number; readonly to: number };

const DAY_MINUTES = 24 * 60;

/** Reads `08:00-22:30`; `24:00` is the end of the day. Null for anything else, and for no time at all. */
export function parseActiveHours(text: string): ActiveHours | null {
  const [, from = '', to = ''] = /^(\d{1,2}:\d\d)\s*[-–]\s*(\d{1,2}:\d\d)$/.exec(text.trim()) ?? [];
  const [start, end] = [minutesIn(from), minutesIn(to)];
  if (start === null || end === null || start === DAY_MINUTES || start === end) return null;
  return { from: start, to: end };
}

/** Tells whether the clocks of a time zone show an active time. The first minute belongs to it, the last does not. */
export function isActive({ from, to }: ActiveHours, moment: number, timeZone: string): boolean {
  const minute = minuteOfDay(moment, timeZone);
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** Writes hours for the owner: `all day`, `08:00–22:30`. */
export function describeHours({ from, to }: ActiveHours): string {
  return to - from === DAY_MINUTES ? 'all day' : `${clock(from)}–${clock(to)}`;
}

/** Writes a minute of the day: `08:05`. */
export function clock(minute: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** Tells whether the calendar knows a time zone of this name. An offset is none: it has no daylight saving. */
export function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false; // A RangeError says no more than that there is none.
  }
}

function minutesIn(text: string): number | null {
  const [hours = Number.NaN, minutes = Number.NaN] = text.split(':').map(Number);
  const total = hours * 60 + minutes;
  return minutes < 60 && total <= DAY_MINUTES ? total : null;
}

function minuteOfDay(moment: number, timeZone: string): number {
  const options = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const parts = new Intl.DateTimeFormat('en-GB', options).formatToParts(moment);
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value);
  return part('hour') * 60 + part('minute');
}
