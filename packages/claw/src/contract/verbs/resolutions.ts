import { z } from 'zod';
import { Sides } from '../parts.ts';

/** A recorded resolution. */
const Recording = z.object({
  key: z.string(),
  path: z.string(),
  kind: z.string(),
  layers: Sides,
  answer: z.string(),
  origin: z.string(),
  /** It was made here. */
  own: z.boolean(),
  /** The present tree uses it. */
  used: z.boolean(),
});

/** The result of `claw resolutions`: all of them, or the one that was forgotten. */
export const ResolutionsData = z.union([z.array(Recording), z.object({ forgotten: z.string() })]);
