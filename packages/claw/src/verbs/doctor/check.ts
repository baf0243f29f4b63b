import type { CodebaseConfig } from '../../installed/config.ts';
import type { State } from '../../installed/state-file.ts';
import type { EngineContext } from '../../operation/context.ts';

/** The result of one check: whether all is well, in a sentence, and what to do. */
export type Finding = {
  readonly area: string;
  readonly ok: boolean;
  readonly message: string;
  /** The next step; a good finding may have one as well. */
  readonly advice: string | null;
};

/** The subject of all checks. `state` and `config` are null if they are absent or unreadable. */
export type Subject = Pick<EngineContext, 'root' | 'environment' | 'now'> & {
  readonly state: State | null;
  readonly config: CodebaseConfig | null;
};

/** Checks one thing without changing it. An error that it throws becomes a finding. */
export type Check = {
  readonly area: string;
  readonly run: (subject: Subject) => CheckResult | Promise<CheckResult>;
};

/** The result of a check; null where there is nothing to check. */
export type CheckResult = Omit<Finding, 'area'> | null;

/** Makes a good result. */
export function good(message: string, advice: string | null = null): CheckResult {
  return { ok: true, message, advice };
}

/** Makes a bad result, with the next step. */
export function bad(message: string, advice: string): CheckResult {
  return { ok: false, message, advice };
}
