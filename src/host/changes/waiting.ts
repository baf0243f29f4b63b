import { type ConflictJson, ConflictsData } from '@patchclaw/claw/contract';
import type { z } from 'zod';
import type { ClawResult } from '../contracts/claw.ts';
import type { CommandContext } from '../contracts/command.ts';

type Detail = NonNullable<z.output<typeof ConflictsData>['details']>[number];

/** One conflict of an operation that waits, with what is decided on it. */
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

/** Returns the operation as it is typed: `update v2.0.0`. */
export function operationName({ verb, args }: Pick<WaitingOperation, 'verb' | 'args'>): string {
  return [verb, ...args].join(' ');
}
