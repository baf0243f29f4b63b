import type { NextSession, RunEnd } from '../../store/store.ts';

/** Result of running a turn. */
export type TurnResult =
  | {
      readonly kind: 'ended';
      readonly state: 'answered' | 'failed' | 'gave_up';
      readonly error: string | null;
      readonly texts: readonly string[];
      readonly session: NextSession | null;
      readonly question: unknown;
      /** The entry for the log of its task; null for a turn that answers a message. */
      readonly run: RunEnd | null;
    }
  /** Its payload is kept; the next process goes on with it. */
  | { readonly kind: 'suspended' };

export function answered(
  text: string,
  rest: {
    readonly question?: unknown;
    readonly session?: NextSession;
  } = {},
): TurnResult {
  const { question = null, session = null } = rest;
  return {
    kind: 'ended',
    state: 'answered',
    error: null,
    texts: [text],
    session,
    question,
    run: null,
  };
}

export function failed(code: string, text: string): TurnResult {
  return {
    kind: 'ended',
    state: 'failed',
    error: code,
    texts: [text],
    session: null,
    question: null,
    run: null,
  };
}

export function gaveUp(code: string, text: string): TurnResult {
  return {
    kind: 'ended',
    state: 'gave_up',
    error: code,
    texts: [text],
    session: null,
    question: null,
    run: null,
  };
}

/** Returns the end of a turn whose chat was taken out before it ran. */
export function unregistered(): TurnResult {
  return failed('UNREGISTERED', 'This chat is not registered any more.');
}
