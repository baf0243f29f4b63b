import type { Decision } from '../compose/resolve-conflict.ts';
import type { VerbResult } from '../contract/result.ts';
import type { ProofProgress, ProofScope } from '../proof/proof.ts';
import type { ProofRunner, ProofRunnerParts } from './proof-runner.ts';

/** The input of every verb: the project it works on, and its edges to the outside. */
export type EngineContext = {
  /** Absolute path of the project's root. */
  readonly root: string;
  /** The folder that relative folders in arguments start from. */
  readonly cwd: string;
  readonly now: () => Date;
  /** The environment from which npm and sandboxed commands take a few names. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called as work goes on; must not throw. */
  readonly onProgress: (event: ProgressEvent) => void;
  /** Paths that the owner named with `--allow`. */
  readonly allow: readonly string[];
  /** Leaves npm to the owner: packages and their lock stay as they are, which `status` says from then on. */
  readonly skipsInstall?: boolean;
  /** The plan that the owner has seen, by `data.plan` of a result: carried out is this one or none. */
  readonly expect?: string | undefined;
  /** The tests that prove a change; by default those of the skills and those that it concerns. */
  readonly proof?: ProofScope | undefined;
  /** Asks the owner for a yes; null where asking is impossible and a yes is assumed. */
  readonly confirm: ((summary: PlanSummary) => Promise<boolean>) | null;
  /** Asks the owner a question on the way, to be answered by yes or no; absent where asking is impossible. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined;
  /** Asks the owner's model; rejects with MODEL_REFUSED. Absent where there is none to ask. */
  readonly askModel?: (prompt: ModelPrompt) => Promise<ModelReply>;
  /**
   * Opens what runs proofs elsewhere, by its name; rejects with USAGE where there is none of that name. Absent where
   * no program beside the engine could bring one.
   */
  readonly openProofRunner?: (name: string, parts: ProofRunnerParts) => Promise<ProofRunner>;
  /** Called when a change is proved and about to be published; what it rejects with keeps everything as it is. */
  readonly beforePublish?: (verb: string) => Promise<void>;
  /** Ends the verb before anything is published; what it runs is ended, what it laid out removed. */
  readonly signal?: AbortSignal;
};

/** The system text and the question for a model. */
export type ModelPrompt = { readonly system: string; readonly user: string };

/** The answer of a model, and its name: `provider/name`. */
export type ModelReply = { readonly text: string; readonly model: string };

/** The input for planning a verb; decisions come from `continue` alone. */
export type PlanningContext = EngineContext & {
  readonly decisions?: readonly Decision[];
  /** Ends with the proof, before anything is published. */
  readonly isTrial?: boolean;
};

export type ProgressEvent =
  | { readonly kind: 'step' | 'done' | 'note'; readonly text: string }
  // Steps of a proof, which run beside each other and end in their own way.
  | ProofProgress;

/** The plan that the owner is asked to accept. */
export type PlanSummary = {
  readonly verb: string;
  /** The result that `claw plan` would print for it. */
  readonly planned: VerbResult<'plan'>;
  readonly packages: readonly string[];
  readonly settings: readonly string[];
  /** Things that the owner gives up; empty for most verbs. */
  readonly losses: readonly string[];
};
