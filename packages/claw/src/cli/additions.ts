import type { CodeFacts, EngineContext, ModelPrompt, ModelReply, VerbResult } from '../commands.ts';
import type { CliResult } from './result.ts';

/** Additions of a program beside the engine to the engine's verbs. */
export type Additions = {
  /** Adds to `claw status` what that program knows. */
  readonly status: (result: VerbResult<'status'>, root: string) => Promise<CliResult<'status'>>;
  /** Adds to the result of a verb that changed the tree. */
  readonly changed: (result: VerbResult, root: string) => Promise<VerbResult>;
  /** Looks at the code and at that program. */
  readonly doctor: (context: EngineContext, isOffline: boolean) => Promise<CliResult<'doctor'>>;
  /**
   * Saves that program's data before a proved change is published.
   *
   * @throws ClawError BACKUP_FAILED: then nothing is published
   */
  readonly beforePublish: (
    verb: string,
    place: {
      readonly root: string;
      readonly signal: AbortSignal;
      readonly onStep: (text: string) => void;
    },
  ) => Promise<void>;
  readonly hasModel: (root: string) => Promise<boolean>;
  /** Asks a model how a conflict is to be resolved. */
  readonly askModel: (
    prompt: ModelPrompt,
    place: { readonly root: string; readonly signal: AbortSignal },
  ) => Promise<ModelReply>;
  /** Loads what reads from the code of a package what its owner has to know. */
  readonly readCode: () => Promise<(path: string, text: string) => CodeFacts>;
};
