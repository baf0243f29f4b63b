/*
 * Questions that the set-up steps of channels have in common: something that is tried as it is typed, such as a token;
 * who may write; and whose chat is the owner's own.
 */

import { type SetupContext, type SetupQuestion, SetupRefused } from './step.ts';

type Ask = SetupContext['ask'];

/** The far end's answer to the typed values: what it reports, or why they cannot be used, as sentences. */
export type Tried<Found extends object> =
  | (Found & { readonly ok: true })
  | { readonly ok: false; readonly message: string };

/**
 * Asks for something that is tried with the far end as it is typed, until it works.
 *
 * @returns the answer, and what the far end told of it
 */
export async function askTried<Found extends object>(
  ask: Ask,
  question: Omit<SetupQuestion, 'check'>,
  tryIt: (typed: string) => Promise<Tried<Found>>,
): Promise<{ readonly typed: string; readonly found: Found }> {
  const last: { tried: Tried<Found> | null } = { tried: null };
  const typed = await ask({
    ...question,
    async check(answer) {
      last.tried = await tryIt(answer);
      return last.tried.ok ? null : last.tried.message;
    },
  });
  if (last.tried?.ok !== true) throw new SetupRefused('The answer was not tried.');
  return { typed, found: last.tried };
}

/** Asks who may write. `check` says in a sentence what is wrong with the list; null if nothing. */
export async function askAllowList(
  ask: Ask,
  {
    check,
    ...question
  }: Omit<SetupQuestion, 'check'> & {
    readonly check: (allowFrom: readonly string[]) => string | null;
  },
): Promise<readonly string[]> {
  return entriesIn(await ask({ ...question, check: (typed) => check(entriesIn(typed)) }));
}

/** Returns the entries of a list as people type it: with commas or spaces between them. */
export function entriesIn(typed: string): readonly string[] {
  return typed.split(/[\s,]+/).filter((entry) => entry !== '');
}

/** Names those who may write, for a sentence. */
export function namesOf(allowFrom: readonly string[]): string {
  return allowFrom.includes('*') ? 'everybody' : allowFrom.join(', ') || 'nobody';
}

const NONE = '-';

/**
 * Asks whose direct chat is to be one of the owner's own chats, with all commands. The one that is set is proposed,
 * else the only person who may write.
 *
 * @returns null for none
 */
export async function askForOwner(
  ask: Ask,
  {
    known,
    allowFrom,
    check,
  }: {
    readonly known: string | undefined;
    readonly allowFrom: readonly string[];
    /** Says in a sentence what is wrong with an id; null for nothing. */
    readonly check: (id: string) => string | null;
  },
): Promise<string | null> {
  const [only = NONE, ...others] = allowFrom;
  const isOne = others.length === 0 && only !== '*';
  const typed = await ask({
    message:
      'Your own user id, with which you command the assistant in a direct chat, as in the terminal (- for none)',
    proposed: known ?? (isOne ? only : NONE),
    check: (id) => (id.trim() === NONE ? null : check(id.trim())),
  });
  return typed.trim() === NONE ? null : typed.trim();
}

/**
 * Returns the owner setting to write. It is emptied if it was set: otherwise the previous owner would still command.
 */
export function ownerSetting<Name extends string>(
  name: Name,
  owner: string | null,
  known: string | undefined,
): { readonly [N in Name]?: string } {
  if (owner === null && known === undefined) return {};
  return { [name]: owner ?? '' } as { readonly [N in Name]: string };
}
