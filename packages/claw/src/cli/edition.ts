import type { Command } from 'commander';
import type { Additions } from './additions.ts';
import type { RunVerb, Verbs } from './verb.ts';

/** What a program beside the engine brings to `claw`: verbs of its own, and what it adds to the engine's. */
export type Beside = {
  readonly description: string;
  readonly verbs: Verbs;
  /** Defines verbs that are found in a folder. */
  readonly discover: (program: Command, run: RunVerb, args: readonly string[]) => Promise<void>;
  readonly additions: Additions;
};

/** A `claw`: its verbs, and what runs beside the engine. */
export type Edition = {
  readonly description: string;
  readonly version: string;
  readonly verbs: Verbs;
  readonly discover: Beside['discover'] | null;
  /** Null where the engine is alone. */
  readonly additions: Additions | null;
};
