import type { ServiceContext } from '../../host/contracts/service.ts';
import { ApiProblem } from './api.ts';

type ReadClaw = ServiceContext['readClaw'];
type Answer = ReturnType<ReadClaw>;

/** An answer of the engine is shown again for so long. */
const KEPT_MS = 5_000;
/** Answers that are kept; another question forgets the oldest. */
const MOST_KEPT = 64;
/** Questions that wait for all these browsers together. */
const MOST_WAITING = 16;

/**
 * Returns the context for browsers that may only read or talk. What the engine is asked for all of them together is one
 * question at a time, an answer is shared for some seconds, and few may wait: so the owner's own question waits behind one
 * of theirs at most.
 */
export function withSharedReads(context: ServiceContext): ServiceContext {
  const { readClaw, now, watch } = context;
  /** By question, the oldest first; `at` is when the answer came, null before. */
  const kept = new Map<string, { at: number | null; readonly answer: Answer }>();
  // Whatever has ended may have changed the code.
  watch(({ kind }) => {
    if (kind === 'ended') kept.clear();
  });
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function askInTurn(args: Parameters<ReadClaw>[0]) {
    if (waiting >= MOST_WAITING) {
      throw new ApiProblem('Too many pages ask at once. Load this page again in a moment.', 'busy');
    }
    waiting += 1;
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    try {
      await before;
      return await readClaw(args);
    } finally {
      waiting -= 1;
      resolve();
    }
  }

  return {
    ...context,
    readClaw(args) {
      const question = JSON.stringify(args);
      const known = kept.get(question);
      if (known !== undefined && (known.at === null || Math.abs(now() - known.at) < KEPT_MS)) {
        return known.answer;
      }
      const one: { at: number | null; readonly answer: Answer } = {
        at: null,
        answer: askInTurn(args),
      };
      kept.delete(question);
      kept.set(question, one);
      const forget = (): void => {
        if (kept.get(question) === one) kept.delete(question);
      };
      one.answer.then(({ error }) => {
        if (error?.code === 'BUSY') forget();
        one.at = now();
      }, forget);
      for (const [oldest, { at }] of kept) {
        if (kept.size <= MOST_KEPT) break;
        if (at !== null) kept.delete(oldest);
      }
      return one.answer;
    },
  };
}
