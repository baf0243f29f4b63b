import type { JobVerdict, ProofJob } from '../proof/proof-job.ts';

/** Runs many proofs: on this machine, or on others through a program beside the engine. */
export type ProofRunner = {
  /**
   * Proves all of them, in whatever order; ends when each has its verdict.
   *
   * @param onVerdict is told each verdict with the index of its job; the last one counts
   * @throws ClawError INTERRUPTED
   */
  prove(
    jobs: readonly ProofJob[],
    onVerdict: (at: number, verdict: JobVerdict) => void,
  ): Promise<void>;
  /** Tells, once, whether verdicts of earlier calls do not count any more: prove those again. */
  takeWithdrawn(): boolean;
  /** Ends it. Returns what the owner has to know, such as a machine that lied. */
  close(): Promise<readonly string[]>;
};

/** The means that a runner of other machines is opened with. */
export type ProofRunnerParts = {
  /** Absolute path of the project. */
  readonly root: string;
  /** Chooses what is proved twice; the same seed chooses the same. */
  readonly seed: string;
  /** Proves on this machine, a few at a time. */
  readonly proveHere: (job: ProofJob) => Promise<JobVerdict>;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal | undefined;
};
