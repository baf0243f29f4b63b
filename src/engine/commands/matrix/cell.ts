import type { ConflictKind } from '../../conflict.ts';
import type { ErrorCode } from '../../errors.ts';

/**
 * The outcome of a combination. `resolved` composes with the help of recordings; `excluded` means that one
 * skill rules out the other.
 */
export type CellOutcome = 'clean' | 'resolved' | 'excluded' | 'conflict' | 'failing' | 'refused';

export type CellConflict = {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly layers: readonly [ours: string, theirs: string];
  readonly reason: string;
};

/**
 * `order`: the composition depended on the order in which the skills were given. `own`: tests of the
 * codebase itself.
 */
export type CellFailure = {
  readonly kind: 'check' | 'test' | 'own' | 'npm' | 'order';
  /** The check's command line, or the skill whose tests fail. */
  readonly name: string;
  /** The failure, in a few lines. */
  readonly text: string;
  /** The end of what was printed. */
  readonly output: string;
};

/** One combination of skills, composed on the core, and proved where it could be. */
export type MatrixCell = {
  /** One name, two or three, sorted; what they depend on was composed with them. */
  readonly skills: readonly string[];
  /**
   * Paths and keys in common, such as `npm:marked`, `env:TOKEN`, `service:redis`, `port:6379/tcp`,
   * `image-npm:zod`, `image-apt:ffmpeg`. Empty for a skill alone.
   */
  readonly shares: readonly string[];
  readonly outcome: CellOutcome;
  readonly conflicts: readonly CellConflict[];
  /** Keys of the recordings that resolved something. */
  readonly resolutions: readonly string[];
  readonly failures: readonly CellFailure[];
  /** The reason that a package, or the combination, is refused. */
  readonly refusal: { readonly code: ErrorCode; readonly message: string } | null;
  readonly ms: number;
};

/** The result of `claw matrix`. */
export type MatrixData = {
  readonly core: {
    readonly version: string | null;
    readonly from: string;
    readonly commit: string | null;
  };
  /** True if checks and tests ran. */
  readonly proved: boolean;
  readonly skills: readonly string[];
  /** Each skill alone, then pairs, then triples. A pair that is not here has nothing in common. */
  readonly cells: readonly MatrixCell[];
  readonly summary: Readonly<Record<CellOutcome, number>>;
};
