import { z } from 'zod';
import { oneOf, wholeNumber } from '../setting-values.ts';

/** Settings of sub-agents. They are off unless `SPAWN` says `on`. */
export const SpawnEnvironment = z.object({
  SPAWN: oneOf(['on', 'off'])
    .optional()
    .transform((word) => (word === 'on' ? word : undefined)),
  SPAWN_AT_ONCE: wholeNumber(1, 8).default(2),
  SPAWN_MINUTES: wholeNumber(1, 120).default(15),
});

export type SpawnSettings = z.output<typeof SpawnEnvironment>;

/** Describes the limits for the owner. */
export function describeLimits({
  SPAWN_AT_ONCE: most,
  SPAWN_MINUTES: minutes,
}: SpawnSettings): string {
  return `at most ${most} at once, for ${minutes} minutes each`;
}
