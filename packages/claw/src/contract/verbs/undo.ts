import { z } from 'zod';

/** The result of `claw undo`. */
export const UndoData = z.object({
  /** The command that is taken back. */
  undone: z.string(),
  /** The plan's identity, for `--expect`. */
  plan: z.string(),
  isTrial: z.literal(true).optional(),
});
