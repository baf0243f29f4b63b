import { constants } from 'node:os';
import type { AnyResult } from './result.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Time for a verb to clean up after Ctrl-C; a second Ctrl-C does not wait for it. */
const PATIENCE_MS = 15_000;

/** Ctrl-C and its like, from the start of a verb until its result is printed. */
export type Interruption = {
  readonly signal: AbortSignal;
  /** 128 and the signal's number where it ended the verb; null where the verb was done before. */
  readonly exitCode: (result: AnyResult) => number | null;
  /** Signals mean what they meant before. */
  readonly end: () => void;
};

/**
 * Lets a verb end in good order when it is interrupted: what it runs is ended, what it laid out is
 * removed. Publishing is not interrupted, so the tree is as before, or the verb is done.
 * The second signal ends the process at once.
 */
export function catchInterruption(): Interruption {
  const controller = new AbortController();
  let caught: (typeof SIGNALS)[number] | null = null;
  const onSignal = (name: (typeof SIGNALS)[number]): void => {
    const leave = () => process.exit(128 + constants.signals[name]);
    if (caught !== null) leave();
    caught = name;
    setTimeout(leave, PATIENCE_MS).unref();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    exitCode: ({ error }) =>
      caught !== null && error !== null ? 128 + constants.signals[caught] : null,
    end: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}
