import { z } from 'zod';
import { Change, ConflictKind, Outcome, Sides } from './parts.ts';

/** A conflict as `--json` prints it: its open hunks as people read them. */
export const ConflictJson = z.object({
  path: z.string(),
  kind: ConflictKind,
  layers: Sides,
  reason: z.string(),
  hunks: z.array(z.object({ base: z.string(), ours: z.string(), theirs: z.string() })),
  /** Paths to which a release may have moved the missing file. */
  candidates: z.array(z.string()),
});

/** The one object that `--json` prints, on every exit code; `data` is by the schema of its verb. */
export const ResultJson = z.object({
  ok: z.boolean(),
  verb: z.string(),
  outcome: Outcome,
  data: z.unknown(),
  changes: z.array(Change),
  conflicts: z.array(ConflictJson),
  warnings: z.array(z.string()),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      path: z.string().nullable(),
      data: z.record(z.string(), z.unknown()),
    })
    .nullable(),
});
