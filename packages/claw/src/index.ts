// The engine as a library: its commands, and what is of use without a project.
export { mergeText } from '@patchclaw/merge';
// Types that the signatures above name.
export type { Immutable, Outcome } from './contract/result.ts';
export type { SCHEMAS } from './contract/schemas.ts';
export type { HunkChoice, PlainChoice } from './decisions/choice.ts';
export type { Digest } from './digest.ts';
export type { ERROR_CODES } from './errors.ts';
export type { ReleaseRequest } from './installed/release.ts';
// What a runner of proofs on other machines needs, at both of its ends.
export { type JobPlace, type JobRunner, openJobRunner } from './operation/job-runner.ts';
export type { ProofRunner, ProofRunnerParts } from './operation/proof-runner.ts';
export type { Bubblewrap } from './proof/bubblewrap.ts';
export { findBubblewrap } from './proof/bubblewrap.ts';
export type { StopLimit } from './proof/limits.ts';
export type { OwnTests, ProofFailure, ProofProgress } from './proof/proof.ts';
export {
  type DescribedJob,
  describeJobs,
  type JobFailure,
  type JobVerdict,
  type ProofJob,
  platformOf,
  readJob,
} from './proof/proof-job.ts';
export type { Environment } from './proof/sandboxed.ts';
export type { FailingTest } from './proof/test-selection/failing-tests.ts';
export type { LayerTests } from './proof/view.ts';
export type { Decision } from './transaction/journal.ts';
export type { DevelopOptions } from './verbs/dev/develop.ts';
export type { ReadCode } from './verbs/pack/code-facts.ts';
export type { LEVELS, Level } from './verbs/pack/next-version.ts';
export type { PackOptions } from './verbs/pack/pack.ts';
export type { RenewOptions } from './verbs/pack/renewal-input.ts';
export type { PlannedVerb } from './verbs/plan.ts';
export * from './verbs.ts';
