import { z } from 'zod';
import { Said, ShownDecision } from '../parts.ts';

/** Ways to resolve one conflict, and the decision on it. */
const Detail = z.object({
  path: z.string(),
  decided: z.boolean(),
  decision: ShownDecision.nullable(),
  /** False where only the disk can be changed. */
  decidable: z.boolean(),
  /** The line of ours at which each open hunk begins. */
  lines: z.array(z.int()),
  /** Sizes in bytes; null for an absent side. */
  sizes: z.object({ ours: z.int().nullable(), theirs: z.int().nullable() }),
  /** The text to finish, below `.claw/pending/`. */
  text: z.string().nullable(),
  /** Each side's value at the key of a structured file. */
  values: z.object({ base: z.unknown(), ours: z.unknown(), theirs: z.unknown() }).nullable(),
  /** The owner has finished the text. */
  edited: z.boolean(),
  /** Notes of both sides' authors on the file. */
  notes: z.string().nullable(),
  /** Paths to which a release may have moved the missing file. */
  candidates: z.array(z.string()),
  /** Recordings that may fit. */
  offers: z.array(z.object({ key: z.string(), origin: z.string() })),
});

/** The result of `claw conflicts`; `operation` is null where nothing waits. */
export const ConflictsData = z.object({
  operation: Said.nullable(),
  open: z.array(z.string()),
  details: z.array(Detail).optional(),
  /** A file of answers to fill in, with `--answers`. */
  answers: z.string().optional(),
});
