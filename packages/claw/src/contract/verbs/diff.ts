import { z } from 'zod';
import { ChangeKind } from '../parts.ts';

/** One changed file; `patch` is what `git apply` takes. */
export const FileDiff = z.object({
  path: z.string(),
  kind: ChangeKind,
  patch: z.string(),
  added: z.int(),
  removed: z.int(),
});

/** The result of `claw diff`. */
export const DiffData = z.object({ layer: z.string(), files: z.array(FileDiff) });
