import { z } from 'zod';
import { PackData } from './pack.ts';

/** The end of `claw dev`, which ran until it was told to end. */
export const SessionData = z.object({
  skill: z.string(),
  version: z.string().nullable(),
  /** So many saves were tried. */
  rounds: z.int(),
  /** The last edits are in the package. */
  isIn: z.boolean(),
  /** It ended before the last save was tried to its end. */
  isUntried: z.boolean(),
});

/** The result of `claw dev`; with `--once`, that of `claw pack --update`. */
export const DevData = z.union([SessionData, PackData]);
