import type { NextSession, RunEnd } from '../../store/store.ts';
import type { ClosingQuestion } from '../asking/question.ts';
import type { HeldFiles } from '../outbound/outgoing-files.ts';

/** An end of a turn that is stored. */
export type TurnEnd =
  | {
      readonly kind: 'ended';
      readonly state: 'answered' | 'failed' | 'gave_up';
      readonly error: string | null;
      readonly texts: readonly string[];
      /** Files that go along with the first text. */
      readonly held?: HeldFiles | null;
      readonly session: NextSession | null;
      /** Put after the texts. */
      readonly question: ClosingQuestion | null;
      /** The entry for the log of its task; null for a turn that answers a message. */
      readonly run: RunEnd | null;
      /** Whoever asked waits for the other turns of the chat. */
      readonly isAnsweredLater?: boolean;
    }
  /** Its payload is kept; the next process goes on with it. */
  | { readonly kind: 'suspended' };

/** Result of running a turn. */
export type TurnResult =
  | TurnEnd
  /** The assistant is being stopped: the turn waits for the next process. The text is what there is of its answer. */
  | { readonly kind: 'given-back'; readonly text: string | null }
  /** The machine on which it ran was lost: it runs again, after the calls that were made. */
  | { readonly kind: 'run-again' };

export function answered(
  text: string,
  session: NextSession | null = null,
): Extract<TurnEnd, { kind: 'ended' }> {
  return {
    kind: 'ended',
    state: 'answered',
    error: null,
    texts: [text],
    session,
    question: null,
    run: null,
  };
}

/** Returns the result of a command that ends with a question. */
export function askedAtEnd(question: ClosingQuestion): TurnResult {
  return {
    kind: 'ended',
    state: 'answered',
    error: null,
    texts: [],
    session: null,
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

export function gaveUp(code: string, text: string): Extract<TurnEnd, { kind: 'ended' }> {
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
