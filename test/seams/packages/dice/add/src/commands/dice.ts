import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { defineCommand } from '../host/contracts/command.ts';
import { wholeNumber } from '../lib/setting-values.ts';

export const command = defineCommand({
  scope: 'members',
  name: 'dice',
  help: 'throw dice: one, or as many as you say',
  settings: z.object({ DICE_SIDES: wholeNumber(2, 1_000).default(6) }),
  async run({ own, sender }, argument) {
    const count = argument === '' ? 1 : Number(argument);
    if (!Number.isInteger(count) || count < 1 || count > 20) return 'Say `/dice 3`: one to twenty.';
    const thrown = Array.from({ length: count }, () => randomInt(1, own.DICE_SIDES + 1));
    return `${sender.name ?? 'Somebody'} throws ${thrown.join(', ')}.`;
  },
});
