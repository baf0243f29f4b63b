/** pino's numbers. */
export const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;

/** Parses `90s`, `30m`, `2d` (ago), `09:30` (today) or a date; null for anything else. */
export function parseSince(text: string, now: number): number | null {
  const span = /^(\d+)([smhdw])$/.exec(text);
  if (span !== null) {
    return now - Number(span[1]) * UNITS[span[2] as keyof typeof UNITS] * 1_000;
  }
  const clock = /^(\d{1,2}):(\d\d)$/.exec(text);
  if (clock !== null) {
    const [hours, minutes] = [Number(clock[1]), Number(clock[2])];
    return hours < 24 && minutes < 60 ? new Date(now).setHours(hours, minutes, 0, 0) : null;
  }
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return null;
  // A date alone means its beginning here, not in Greenwich.
  const time = new Date(text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T')).getTime();
  return Number.isNaN(time) ? null : time;
}
