import { z } from 'zod';
import { wholeNumber } from '../lib/setting-values.ts';
import { defineProofRunner } from './proof-runner.ts';

/** The machines on which `claw far prove` runs. */
export const runner = defineProofRunner({
  name: 'far',
  settings: z.object({ FAR_SECOND_OPINIONS: wholeNumber(1, 100).default(10) }),
  create: async ({ settings, ...context }) => {
    const { openFarProofs } = await import('./far/far-proofs.ts');
    return await openFarProofs({ ...context, percent: settings.FAR_SECOND_OPINIONS });
  },
});
