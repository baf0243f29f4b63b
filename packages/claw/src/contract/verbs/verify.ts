import { z } from 'zod';

/** Lines of a file that differ from what was published, 1-based and inclusive. */
const Difference = z.object({
  path: z.string(),
  owner: z.string(),
  kind: z.enum(['add', 'modify', 'delete']),
  lines: z.array(z.tuple([z.int(), z.int()])),
  /** Other differences: the ends of otherwise equal lines, the right to execute. */
  form: z.array(z.enum(['line-ends', 'mode'])),
  /** Owners of the lines that the edit replaces, takes out or is inserted between. */
  touches: z.array(z.string()),
});

/** The result of `claw verify`. */
export const VerifyData = z.object({
  clean: z.boolean(),
  edits: z.array(Difference),
  /** Files that this engine would compose otherwise than was published. */
  recomposed: z.array(z.string()),
  /** Files of `.claw/` that are not what `state.yaml` pins. */
  damaged: z.array(z.string()),
});
