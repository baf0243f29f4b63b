import { timeFormat } from '../time-format.ts';

/** A part of the day in minutes since midnight. Where `to` is before `from`, it goes over midnight. */
export type Hours = { readonly from: number; readonly to: number };

/** The quiet part of each day: none on the days that have null. */
export type WeekHours = {
  readonly weekdays: Hours | null;
  readonly weekends: Hours | null;
  readonly timeZone: string;
};

const DAY_MINUTES = 24 * 60;
export const ALL_DAY: Hours = { from: 0, to: DAY_MINUTES };

/** Reads `22:00-7:00`, `22-7` and `all day`. Null for anything else, and for no time at all. */
export function parseHours(text: string): Hours | null {
  const typed = text.trim().toLowerCase();
  if (/^all[- ]day$/.test(typed)) return ALL_DAY;
  const clock = String.raw`(\d{1,2})(?::(\d\d))?`;
  const found = new RegExp(String.raw`^${clock}\s*[-–]\s*${clock}$`).exec(typed);
  if (found === null) return null;
  const [, fromHour, fromMinute = '0', toHour, toMinute = '0'] = found;
  const from = Number(fromHour) * 60 + Number(fromMinute);
  const to = Number(toHour) * 60 + Number(toMinute);
  const areMinutes = Number(fromMinute) < 60 && Number(toMinute) < 60;
  if (!areMinutes || from >= DAY_MINUTES || to > DAY_MINUTES || from === to) return null;
  return { from, to };
}

/** Writes hours for the owner: `all day`, `22:00–07:00`. */
export function describeHours({ from, to }: Hours): string {
  return to - from === DAY_MINUTES ? 'all day' : `${clockOf(from)}–${clockOf(to)}`;
}

/** Tells whether a moment is quiet. Each day counts by its own hours, from midnight to midnight. */
export function isQuietAt(week: WeekHours, moment: number): boolean {
  const { minute, isWeekend } = localMinute(moment, week.timeZone);
  const hours = isWeekend ? week.weekends : week.weekdays;
  if (hours === null) return false;
  const { from, to } = hours;
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** Returns how long it is until the hours of a week can begin or end next, in milliseconds. */
export function msToNextBorder(week: WeekHours, moment: number): number {
  const { minute } = localMinute(moment, week.timeZone);
  const borders = [week.weekdays, week.weekends].flatMap((hours) =>
    hours === null ? [] : [hours.from, hours.to],
  );
  const next = Math.min(DAY_MINUTES, ...borders.filter((border) => border > minute));
  return (next - minute) * 60_000 - (moment % 60_000);
}

function clockOf(minute: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

function localMinute(moment: number, timeZone: string) {
  const parts = formatIn(timeZone).formatToParts(moment);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  return {
    minute: Number(part('hour')) * 60 + Number(part('minute')),
    isWeekend: ['Sat', 'Sun'].includes(part('weekday')),
  };
}

/** A zone that this machine does not know any more is UTC: nothing is held for ever because of a name. */
function formatIn(timeZone: string): Intl.DateTimeFormat {
  const shown = {
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  } as const;
  try {
    return timeFormat('en-GB', { ...shown, timeZone });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return timeFormat('en-GB', { ...shown, timeZone: 'UTC' });
  }
}
