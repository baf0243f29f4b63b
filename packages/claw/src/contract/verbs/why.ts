import { z } from 'zod';

/** An owner of lines. */
const Owner = z.object({
  owner: z.string(),
  kind: z.enum(['core', 'skill', 'customisation', 'resolution', 'edit']),
  version: z.string().nullable().optional(),
  description: z.string().optional(),
  /** The recording, by its key. */
  key: z.string().optional(),
  /** The two layers between which it decided; or the skills that declare a line together. */
  layers: z.array(z.string()).optional(),
  /** The author of the decision: `owner`, or a model. */
  origin: z.string().nullable().optional(),
});

/** Lines of a file on disk that have one owner; numbers are 1-based and inclusive. */
const Range = Owner.extend({
  from: z.int(),
  to: z.int(),
  /** The lines on disk; empty for a binary file. */
  text: z.string(),
});

/** The result of `claw why`; `gone` is about a file that is not there. */
export const WhyData = z.object({
  path: z.string(),
  ranges: z.array(Range),
  binary: z.boolean(),
  gone: Owner.extend({ movedTo: z.string().nullable() }).nullable(),
});
