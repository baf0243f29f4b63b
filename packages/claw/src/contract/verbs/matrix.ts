import { z } from 'zod';
import { ERROR_CODES } from '../../errors.ts';
import { ConflictKind, CoreOrigin, Sides } from '../parts.ts';

/**
 * The outcome of a combination. `resolved` composes with the help of recordings; `excluded` means that one
 * skill rules out the other.
 */
const Outcome = z.enum(['clean', 'resolved', 'excluded', 'conflict', 'failing', 'refused']);

/** `order`: the composition depended on the order of the skills. `own`: tests of the codebase itself. */
const Failure = z.object({
  kind: z.enum(['check', 'test', 'own', 'npm', 'order']),
  /** The check's command line, or the skill whose tests fail. */
  name: z.string(),
  /** The failure, in a few lines. */
  text: z.string(),
  /** The end of what was printed. */
  output: z.string(),
});

/** One combination of skills, composed on the core, and proved where it could be. */
const Cell = z.object({
  /** One name, two or three, sorted; what they depend on was composed with them. */
  skills: z.array(z.string()),
  /**
   * Paths and keys in common, such as `npm:marked`, `env:TOKEN`, `service:redis`, `port:6379/tcp`,
   * `image-npm:zod`, `image-apt:ffmpeg`. Empty for a skill alone.
   */
  shares: z.array(z.string()),
  conflicts: z.array(
    z.object({ path: z.string(), kind: ConflictKind, layers: Sides, reason: z.string() }),
  ),
  /** Keys of the recordings that resolved something. */
  resolutions: z.array(z.string()),
  failures: z.array(Failure),
  /** The reason that a package, or the combination, is refused. */
  refusal: z.object({ code: z.enum(ERROR_CODES), message: z.string() }).nullable(),
  outcome: Outcome,
  ms: z.number(),
});

/** The result of `claw matrix`. */
export const MatrixData = z.object({
  core: z.object({
    version: z.string().nullable(),
    from: CoreOrigin,
    commit: z.string().nullable(),
  }),
  /** True if checks and tests ran. */
  proved: z.boolean(),
  skills: z.array(z.string()),
  /** Each skill alone, then pairs, then triples. A pair that is not here has nothing in common. */
  cells: z.array(Cell),
  summary: z.record(Outcome, z.int()),
});
