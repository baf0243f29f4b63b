import { moment, wordsOf } from '../page.ts';

const t = wordsOf('tasks');

/** When a task runs, as the assistant keeps it: its text is an interval, or five fields of cron. */
export type Schedule = {
  readonly kind: 'cron' | 'every' | 'at';
  readonly text: string;
  readonly timeZone: string;
  readonly anchor: number;
};

/** Says a schedule in the words of this browser. A rule of cron that has none is quoted. */
export function scheduleInWords({ kind, text, timeZone, anchor }: Schedule): string {
  if (kind === 'at') return t('once', { at: moment(anchor) });
  if (kind === 'every') return t('every', { time: intervalInWords(text) });
  const { timeZone: here } = new Intl.DateTimeFormat().resolvedOptions();
  const zone = timeZone === here ? '' : ` (${timeZone})`;
  return `${cronInWords(text) ?? `cron ${text}`}${zone}`;
}

const CLOCK = new Intl.DateTimeFormat(navigator.language, { timeStyle: 'short', timeZone: 'UTC' });

/** The assistant writes `15 minutes`, and `hour` for one. */
function intervalInWords(text: string): string {
  const [, count = '1', unit] = /^(?:(\d+) )?(minute|hour|day|week)s?$/.exec(text) ?? [];
  if (unit === undefined) return text;
  const about = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(navigator.language, about).format(Number(count));
}

/** Says what people mostly ask for: a time of each day, of some days of the week, or of a day of each month. */
function cronInWords(text: string): string | null {
  const [minute = '', hour = '', date = '', month, weekdays = ''] = text.trim().split(/\s+/);
  if (!/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour) || month !== '*') return null;
  const at = CLOCK.format(Date.UTC(2025, 0, 1, Number(hour), Number(minute)));
  if (date === '*' && weekdays === '*') return t('daily', { at });
  if (/^\d{1,2}$/.test(date) && weekdays === '*') return t('monthly', { date, at });
  const days = date === '*' ? daysIn(weekdays) : null;
  return days === null ? null : t('weekly', { days, at });
}

/** The names of `1-5` or `1,3`; null for any other way to name days. */
function daysIn(field: string): string | null {
  if (!/^[0-7]([-,][0-7])*$/.test(field) || /-\d-/.test(field)) return null;
  // The 5th of January 2025 was a Sunday.
  const day = new Intl.DateTimeFormat(navigator.language, { weekday: 'long', timeZone: 'UTC' });
  const name = (number: string) => day.format(Date.UTC(2025, 0, 5 + Number(number)));
  const parts = field.split(',').map((part) => part.split('-').map(name).join(' – '));
  return new Intl.ListFormat(navigator.language).format(parts);
}
