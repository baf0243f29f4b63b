import type { Command } from 'commander';
import type { Additions } from './additions.ts';
import type { RunVerb, Verbs } from './verb.ts';

/** A `claw`: its verbs, and what runs beside the engine. */
export type Edition = {
  readonly description: string;
  readonly version: string;
  readonly verbs: Verbs;
  /** Defines verbs that are found in a folder. */
  readonly discover:
    | ((program: Command, run: RunVerb, args: readonly string[]) => Promise<void>)
    | null;
  /** Null where the engine is alone. */
  readonly additions: Additions | null;
};
