import { z } from 'zod';

/** The result of `claw recover`. */
export const RecoverData = z.object({
  outcome: z.string(),
  /** The verb that was killed. */
  verb: z.string().nullable(),
  /** Edits of the owner's that were put aside. */
  kept: z.array(z.string()),
});
