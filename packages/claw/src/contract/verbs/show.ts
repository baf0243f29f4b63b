import { z } from 'zod';
import { ChangeKind } from '../parts.ts';

/** The result of `claw show`. */
export const ShowData = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  /** The version that is in the code; null where the skill is not in. */
  applied: z.string().nullable(),
  source: z.string(),
  coreVersion: z.string(),
  needs: z.array(z.object({ name: z.string(), range: z.string() })),
  conflicts: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), kind: ChangeKind })),
  /** npm packages with their version ranges. */
  packages: z.array(z.string()),
  settings: z.array(
    z.object({
      name: z.string(),
      description: z.string().nullable(),
      isSecret: z.boolean(),
      isOptional: z.boolean(),
    }),
  ),
});
