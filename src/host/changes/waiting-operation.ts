import { type ConflictJson, ConflictsData } from '@patchclaw/claw/contract';
import type { z } from 'zod';
import type { ClawResult } from '../contracts/claw.ts';
import type { CommandContext } from '../contracts/command.ts';

type Detail = NonNullable<z.output<typeof ConflictsData>['details']>[number];

/** One conflict of a waiting operation, with the decision on it. */
export type WaitingConflict = z.output<typeof ConflictJson> & Detail;

/** The composition's name, null before the first change, and the names of its layers. */
export type Installed = { readonly state: string | null; readonly layers: readonly string[] };

/** An operation that waits for decisions. */
export type WaitingOperation = {
  readonly verb: string;
  readonly args: readonly string[];
  readonly conflicts: readonly WaitingConflict[];
  readonly installed: Installed;
};

/**
 * Reads the operation that waits for decisions; null for none. A result without an answer is returned as it
 * is.
 */
export async function readWaiting({
  claw,
}: Pick<CommandContext, 'claw'>): Promise<WaitingOperation | ClawResult | null> {
  const result = await claw(['conflicts']);
  if (!result.ok) return result;
  const { operation, details = [], installed } = ConflictsData.parse(result.data);
  if (operation === null || installed === undefined) return null;
  return {
    verb: operation.verb,
    args: operation.arguments,
    installed,
    conflicts: result.conflicts.flatMap((conflict) => {
      const detail = details.find(({ path }) => path === conflict.path);
      return detail === undefined ? [] : [{ ...conflict, ...detail }];
    }),
  };
}

/** The reply to an answer about an operation that is over. */
export const NOT_WAITING = 'That operation does not wait any more.';

/** The advice after a change that could not go on. */
export const STILL_WAITING = '`/conflicts` goes on with it, `/conflicts give up` forgets it.';

/** Said before a question that is asked again, because the files are others now. */
export const PLANNED_AGAIN =
  'Something was edited since you were shown this, so it was planned again.';

/** Returns the operation as it is typed: `update v2.0.0`. */
export function operationName({ verb, args }: Pick<WaitingOperation, 'verb' | 'args'>): string {
  return [verb, ...args].join(' ');
}
