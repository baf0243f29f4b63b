import { z } from 'zod';
import { Said, ShownDecision, Sides } from '../parts.ts';

/** Rules that would resolve a conflict; `both` and `reversed` take the lines of both sides, in either order. */
export const Rule = z.enum(['ours', 'theirs', 'both', 'reversed', 'insertion', 'words', 'moved']);

/** A numbered way to resolve a conflict: the first is number 1. */
const Way = z.object({ rule: Rule, label: z.string() });

/** The same at one place, with what it makes there, as a file of answers has it in `hunks`. */
const PlaceWay = Way.extend({
  pick: z.union([
    z.enum(['ours', 'theirs', 'ours-theirs', 'theirs-ours']),
    z.object({ text: z.string() }),
  ]),
});

/** A place in conflict, as people read it. */
const Place = z.object({
  /** The line of ours at which it begins. */
  line: z.int(),
  /** The declaration that it stands in. */
  declaration: z.string().nullable(),
  layers: Sides,
  /** Lines above and below that make it whole. */
  above: z.string(),
  below: z.string(),
  base: z.string(),
  ours: z.string(),
  theirs: z.string(),
  ways: z.array(PlaceWay),
});

/** Ways to resolve one conflict, and the decision on it. */
const Detail = z.object({
  path: z.string(),
  decided: z.boolean(),
  decision: ShownDecision.nullable(),
  /** False where only the disk can be changed. */
  decidable: z.boolean(),
  /** The words by which `resolve --take` takes the side of ours, and that of theirs. */
  takes: z.array(z.string()),
  /** The places in conflict, in order; none where there are no lines. */
  places: z.array(Place),
  /** The ways to resolve all of it by one rule. */
  ways: z.array(Way),
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
  /** The line of each side's notes that says what to keep. */
  keeps: z.object({ ours: z.string().nullable(), theirs: z.string().nullable() }),
  /** Paths to which a release may have moved the missing file. */
  candidates: z.array(z.string()),
  /** Recordings that may fit. */
  offers: z.array(z.object({ key: z.string(), origin: z.string() })),
});

/** The result of `claw conflicts`; `operation` is null where nothing waits. */
export const ConflictsData = z.object({
  operation: Said.nullable(),
  open: z.array(z.string()),
  /** What is installed meanwhile: the composition's name, null before the first command, and its layers' names. */
  installed: z.object({ state: z.string().nullable(), layers: z.array(z.string()) }).optional(),
  details: z.array(Detail).optional(),
  /** A file of answers to fill in, with `--answers`. */
  answers: z.string().optional(),
});
