const UNITS = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;

/** Reads `15 minutes`, `90m`, `2h`, `1 day`, `hour`, `1 hour 30 minutes`, in milliseconds; null for anything else. */
export function parseDuration(text: string): number | null {
  // A part is a number with its unit; a lone unit, such as "hour", is a duration by itself.
  const parts = text.trim().split(/(?:\s*,)?\s*(?:\band\s+)?(?<=[a-z,\s])(?=\d)/i);
  const durations = parts.map(parsePart);
  const total = durations.reduce<number>((sum, ms) => sum + (ms ?? Number.NaN), 0);
  return Number.isNaN(total) ? null : total;
}

function parsePart(text: string): number | null {
  const match = /^(\d{1,6})?\s*(m|min|minute|h|hour|d|day|w|week)s?$/i.exec(text.trim());
  const [, count = '1', unit = ''] = match ?? [];
  const name = Object.entries(UNITS).find(([known]) => known.startsWith(unit.toLowerCase()));
  return match === null || name === undefined ? null : Number(count) * name[1];
}

/** Says a duration in the largest unit that divides it: `90 minutes`, `2 hours`; `minute` for one. */
export function describeDuration(durationMs: number): string {
  const units = Object.entries(UNITS).toReversed();
  const [unit, unitMs] = units.find(([, ms]) => durationMs % ms === 0) ?? ['minute', UNITS.minute];
  const count = Math.round(durationMs / unitMs);
  return count === 1 ? unit : `${count} ${unit}s`;
}
