import type { ProofRunner, ProofRunnerParts } from '@patchclaw/claw';
import type { z } from 'zod';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
} from '../lib/contribution.ts';

/** The context of a proof runner, beside its own settings. */
export type ProofRunnerContext = ProofRunnerParts & {
  /** Absolute path of the folder for database, sessions, credentials and logs. */
  readonly dataDir: string;
};

/** Why a runner cannot be used, as a sentence that says what to do next. */
export class RunnerUnusable extends Error {
  override readonly name = 'RunnerUnusable';
}

/** The export `runner` of a file in `src/proof-runners/`. It rejects with `RunnerUnusable`. */
export type ProofRunnerContribution = Contribution<ProofRunnerContext, Promise<ProofRunner>>;

/** Defines what runs the proofs of `claw matrix --on <name>`, in a file of that name. Only the one asked for is loaded. */
export function defineProofRunner<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, ProofRunnerContext, Promise<ProofRunner>>,
): ProofRunnerContribution {
  return contributionOf(definition);
}
