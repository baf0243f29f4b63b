import { z } from 'zod';

/** Facts of a turn, as the host's section `notes` gives them. */
export const NotesFacts = z.object({
  /** Days of notes that are shown, today included. */
  days: z.number().default(3),
  timeZone: z.string().default('UTC'),
  /** The beginning of the turn, in milliseconds. */
  now: z.number().default(() => Date.now()),
  beginsAnew: z.boolean().default(false),
  isTask: z.boolean().default(false),
  /** The label of the person who asks. */
  label: z.string().default('[unknown / assistant]'),
  /** The label of the assistant's own words. */
  own: z.string().default('[unknown / assistant]'),
  senders: z.array(z.object({ label: z.string(), name: z.string().nullable() })).default([]),
});
export type NotesFacts = z.output<typeof NotesFacts>;

const DAY_MS = 86_400_000;

/** Returns the day and the time of the turn, where its owner is: `2026-11-22`, `14:03`. */
export function localNow({ timeZone, now }: NotesFacts): {
  readonly day: string;
  readonly time: string;
} {
  // Sweden writes a day as 2026-11-22 and a time as 14:03.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  const [day = '', time = ''] = format.format(now).split(' ');
  return { day, time };
}

/** Returns the days of the window, the oldest first. */
export function daysShown(facts: NotesFacts): readonly string[] {
  const today = Date.parse(`${localNow(facts).day}T00:00:00Z`);
  return Array.from({ length: facts.days }, (_, at) =>
    new Date(today - (facts.days - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
}
