import { z } from 'zod';
import { CarriedData } from '../carried.ts';

/** The result of `claw rebase`; `customisation` is null where there was nothing to record. */
export const RebaseData = CarriedData.extend({
  losses: z.array(z.string()),
  customisation: z.object({ name: z.string(), files: z.array(z.string()) }).nullable(),
});
