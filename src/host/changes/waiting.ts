import { z } from 'zod';
import type { ClawResult } from '../contracts/claw.ts';
import type { CommandContext } from '../contracts/command.ts';

const Conflict = z.object({
  path: z.string(),
  kind: z.string(),
  layers: z.tuple([z.string(), z.string()]),
  reason: z.string(),
  hunks: z.array(z.object({ base: z.string(), ours: z.string(), theirs: z.string() })),
});

const Detail = z.object({
  path: z.string(),
  decision: z
    .object({ origin: z.string(), value: z.unknown(), patch: z.string().nullable() })
    .nullable(),
  decidable: z.boolean(),
  lines: z.array(z.int()),
  sizes: z.object({ ours: z.int().nullable(), theirs: z.int().nullable() }),
  values: z.object({ ours: z.unknown(), theirs: z.unknown() }).nullable(),
  notes: z.string().nullable(),
  offers: z.array(z.object({ key: z.string(), origin: z.string() })),
  candidates: z.array(z.string()).default([]),
});

const Data = z.object({
  operation: z.object({ verb: z.string(), arguments: z.array(z.string()) }).nullable(),
  details: z.array(Detail).default([]),
});

/** One conflict of an operation that waits, with what is decided on it. */
export type WaitingConflict = z.output<typeof Conflict> & z.output<typeof Detail>;

/** An operation that waits for decisions. */
export type Waiting = {
  readonly verb: string;
  readonly args: readonly string[];
  readonly conflicts: readonly WaitingConflict[];
};

/** What waits for decisions; null when nothing does. A result that is no answer is given back. */
export async function readWaiting({
  claw,
}: Pick<CommandContext, 'claw'>): Promise<Waiting | ClawResult | null> {
  const result = await claw(['conflicts']);
  if (!result.ok) return result;
  const { operation, details } = Data.parse(result.data);
  if (operation === null) return null;
  const conflicts = z.array(Conflict).parse(result.conflicts);
  return {
    verb: operation.verb,
    args: operation.arguments,
    conflicts: conflicts.flatMap((conflict) => {
      const detail = details.find(({ path }) => path === conflict.path);
      return detail === undefined ? [] : [{ ...conflict, ...detail }];
    }),
  };
}

/** The operation as it is typed: `update v2.0.0`. */
export function operationName({ verb, args }: Pick<Waiting, 'verb' | 'args'>): string {
  return [verb, ...args].join(' ');
}
