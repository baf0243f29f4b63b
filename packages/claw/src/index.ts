// The engine as a library: its commands, and what is of use without a project.
export { mergeText } from '@patchclaw/merge';
// What a runner of proofs on other machines needs, at both of its ends.
export { type JobPlace, type JobRunner, openJobRunner } from './operation/job-runner.ts';
export type { ProofRunner, ProofRunnerParts } from './operation/proof-runner.ts';
export { findBubblewrap } from './proof/bubblewrap.ts';
export {
  type DescribedJob,
  describeJobs,
  type JobFailure,
  type JobVerdict,
  type ProofJob,
  platformOf,
  readJob,
} from './proof/proof-job.ts';
export * from './verbs.ts';
