import { z } from 'zod';
import { defineVerb, VerbError } from '../verb.ts';

const HALF_A_TIDE_MS = 6.21 * 3_600_000;

export const verb = defineVerb({
  name: 'tides',
  help: 'show when the water is high and low',
  options: [{ flags: '--next <count>', help: 'how many' }],
  settings: z.object({ TIDES_HIGH: z.iso.datetime('must be a time of high water').optional() }),
  needs: ['TIDES_HIGH'],
  create({ settings: { TIDES_HIGH: high }, now }) {
    if (high === undefined) return null;
    return async ({ options }) => {
      const count = Number(options['next'] ?? 2);
      if (!Number.isInteger(count)) throw new VerbError('usage', 'Say how many: --next 4.');
      const first = Math.ceil((now() - Date.parse(high)) / HALF_A_TIDE_MS);
      const data = Array.from({ length: count }, (_, index) => ({
        at: new Date(Date.parse(high) + (first + index) * HALF_A_TIDE_MS).toISOString(),
        water: (first + index) % 2 === 0 ? 'high' : 'low',
      }));
      return { data, lines: data.map(({ at, water }) => `${at} ${water} water`) };
    };
  },
});
