import type { EngineContext } from '../../operation/context.ts';
import type { CodebaseConfig } from '../../state/config.ts';
import type { State } from '../../state/state-file.ts';

/** One thing that was looked at: whether it is well, in a sentence, and what can be done. */
export type Finding = {
  readonly area: string;
  readonly ok: boolean;
  readonly message: string;
  /** What to do next; also for what is well and could be better. */
  readonly advice: string | null;
};

/** What is looked at. `state` and `config` are null where they are not there or cannot be read. */
export type Subject = Pick<EngineContext, 'root' | 'environment' | 'now'> & {
  readonly state: State | null;
  readonly config: CodebaseConfig | null;
};

/** Looks at one thing without changing it. What it throws becomes a finding. */
export type Examination = {
  readonly area: string;
  readonly examine: (subject: Subject) => Look | Promise<Look>;
};

/** What an examination says; null where there is nothing to look at. */
export type Look = Omit<Finding, 'area'> | null;

/** All is well. */
export function well(message: string, advice: string | null = null): Look {
  return { ok: true, message, advice };
}

/** Something is wrong, and this is what can be done. */
export function ill(message: string, advice: string): Look {
  return { ok: false, message, advice };
}
