import { z } from 'zod';
import { defineSetup } from './step.ts';

export const setup = defineSetup({
  name: 'pigeon',
  help: 'tells the assistant where the loft is',
  settings: z.object({ PIGEON_URL: z.url().optional() }),
  currentState: ({ settings }) => settings.PIGEON_URL ?? null,
  async run({ ask, write, settings }) {
    const check = (typed: string) => (URL.canParse(typed) ? null : 'That is not an address.');
    const initial = settings.PIGEON_URL ?? 'https://';
    const address = await ask({ message: 'Where is the loft?', initial, check });
    write({ PIGEON_URL: address });
    return { summary: `Messages fly to ${address}.`, data: { address } };
  },
});
