import { z } from 'zod';
import { oneOf, wholeNumber } from '../setting-values.ts';
import { describeHours, isTimeZone, parseActiveHours } from './active-hours.ts';

/** Settings of the heartbeat. */
export const HeartbeatEnvironment = z.object({
  HEARTBEAT_MINUTES: wholeNumber(5, 1440).default(30),
  HEARTBEAT_HOURS: z
    .string()
    .default('00:00-24:00')
    .transform((text, context) => {
      const hours = parseActiveHours(text);
      if (hours !== null) return hours;
      context.addIssue({ code: 'custom', message: HOURS_PROBLEM });
      return z.NEVER;
    }),
  HEARTBEAT_TIME_ZONE: z
    .string()
    .refine(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin')
    .optional(),
  HEARTBEAT_CONTEXT: oneOf(['group', 'isolated']).default('group'),
  HEARTBEAT_PROMPT: z.string().max(4_000, 'must have 4,000 characters or less').optional(),
});

/** Says what hours look like, as the rest of a sentence. */
export const HOURS_PROBLEM =
  'must be two times such as 08:00-22:00; 22:00-06:00 goes over midnight, 00:00-24:00 is all day';

/** Describes when the heartbeat looks: `every 30 minutes, 08:00–22:00 (Europe/Berlin)`. */
export function describeBeat(
  settings: z.output<typeof HeartbeatEnvironment>,
  timeZone: string,
): string {
  const { HEARTBEAT_MINUTES: minutes, HEARTBEAT_HOURS: hours } = settings;
  return `every ${minutes} minutes, ${describeHours(hours)} (${timeZone})`;
}
