import { z } from 'zod';
import { ShownDecision } from '../parts.ts';

/** A choice of a model's, for `resolve`. */
const Choice = z.union([
  z.object({ kind: z.enum(['ours', 'theirs']), origin: z.string() }),
  /** The lines of each open hunk, in their order. */
  z.object({
    kind: z.literal('picks'),
    picks: z.array(z.object({ text: z.string() })),
    origin: z.string(),
  }),
  /** The value of a structured conflict; null takes the key out. */
  z.object({ kind: z.literal('value'), value: z.unknown(), origin: z.string() }),
]);

/** The result of `claw resolve`; `path` is null where none was decided. */
export const ResolveData = z.object({
  path: z.string().nullable(),
  /** Several that were decided at once. */
  paths: z.array(z.string()).optional(),
  /** The author of the decision. */
  origin: z.string().optional(),
  /** Conflicts that are left to decide. */
  open: z.array(z.string()),
  /** Proposals of a model. */
  proposals: z.array(ShownDecision.extend({ path: z.string(), choice: Choice })).optional(),
});
