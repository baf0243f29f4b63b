import { z } from 'zod';

/** The checks and tests that passed on a planned tree. */
const Proof = z.object({
  checks: z.int(),
  /** Test files of all layers. */
  tests: z.int(),
  /** Of those, files that had passed before on the same files and did not run again. */
  reused: z.int(),
  /** Files of the codebase's own tests. */
  own: z.int(),
  /** A note on tests that did not run; null where all did. */
  note: z.string().nullable(),
});

/** The source of a skill that a command brings. */
const Source = z.object({
  name: z.string(),
  source: z.string(),
  version: z.string(),
  digest: z.string(),
  /** Of a source in git. */
  commit: z.string().optional(),
  touches: z.array(z.string()),
});

/** The assumed ancestor of a package's file; nulls where it is unknown. */
const InferredBase = z.object({
  skill: z.string(),
  path: z.string(),
  from: z.string().nullable(),
  changedLines: z.int().nullable(),
  alsoFits: z.array(z.string()),
});

/** Data of every verb that composes the tree again, planned or carried out. */
export const CarriedData = z.object({
  /** The plan's identity, for `--expect`. */
  plan: z.string(),
  /** Assumptions about the release; the warnings say them too. */
  assumed: z.array(z.string()),
  skills: z.array(z.object({ name: z.string(), version: z.string() })),
  sources: z.array(Source),
  /** `name@range` of npm packages that are new. */
  packages: z.array(z.string()),
  settings: z.array(z.string()),
  /** The settings that have no default. */
  requiredSettings: z.array(z.string()),
  /** Settings of skills that go, which no skill reads any more. */
  settingsGone: z.array(z.string()),
  /** Conflicts that were resolved: by recordings, or by a decision. */
  settled: z.array(
    z.object({
      path: z.string(),
      layers: z.tuple([z.string(), z.string()]),
      by: z.union([z.string(), z.array(z.string())]),
    }),
  ),
  proof: Proof.optional(),
  /** It was proved, and nothing was published. */
  isTrial: z.literal(true).optional(),
});

/** The same of verbs that bring packages: bases that these did not carry. */
export const BroughtData = CarriedData.extend({ inferredBases: z.array(InferredBase) });
