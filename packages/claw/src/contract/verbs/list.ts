import { z } from 'zod';

/** An applied layer. */
const Applied = z.object({
  name: z.string(),
  version: z.string(),
  digest: z.string(),
  source: z.string(),
  commit: z.string().optional(),
  kind: z.literal('customisation').optional(),
});

/** A package in `skills/`. */
const Available = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  applied: z.boolean(),
});

/** The result of `claw list`. */
export const AppliedData = z.array(Applied);

/** The result of `claw list --available`. */
export const AvailableData = z.array(Available);

/** Both. */
export const ListData = z.union([AvailableData, AppliedData]);
