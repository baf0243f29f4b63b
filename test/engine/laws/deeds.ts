import fc from 'fast-check';
import { NAMES } from './world.ts';

/** An edit of the owner's by hand, to a file named by its number. */
export type Edit =
  | { readonly kind: 'slot'; readonly file: number; readonly slot: number; readonly value: string }
  | { readonly kind: 'mode' | 'line-ends' | 'delete'; readonly file: number }
  | { readonly kind: 'new'; readonly name: string; readonly value: string };

/** The owner's reaction to conflicts. */
export type Answer = 'ours' | 'theirs' | 'abort' | 'leave';

export type Verb =
  | { readonly kind: 'apply' | 'remove' | 'upgrade'; readonly names: readonly string[] }
  | { readonly kind: 'drop'; readonly nth: number }
  | { readonly kind: 'update'; readonly release: 1 | 2 }
  | { readonly kind: 'customize' | 'rebase' | 'undo' | 'replay' };

export type Deed =
  | { readonly kind: 'edit'; readonly edit: Edit }
  | { readonly kind: 'verb'; readonly verb: Verb; readonly answer: Answer };

/** A verb that is killed on its way. */
export type Kill = {
  /** The index of the deed among those that are verbs. */
  readonly verb: number;
  /** The moment of the kill, as a part of all calls that the verb makes on files. */
  readonly moment: number;
  /** The command that comes next. */
  readonly next: 'status' | 'verify' | 'recover' | 'abort';
  /** The change at which the next command is killed as well; null to let it end. */
  readonly again: number | null;
};

const file = fc.nat(7);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('slot' as const),
      file,
      slot: fc.nat(3),
      value: fc.constantFrom('mine', 'mine', 'shared', 'mine-too', ''),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mode' as const), file }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('line-ends' as const), file }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), file }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('new' as const),
      // Some of them where a skill has a file of its own.
      name: fc.constantFrom('mine.txt', 'own/deep/mine.txt', 'alpha/mine.txt', 'both/shared.txt'),
      value: fc.constantFrom('mine', 'mine-too', 'one'),
    }),
  },
);

const names = fc.subarray([...NAMES], { minLength: 1, maxLength: 3 });
const verb: fc.Arbitrary<Verb> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('apply' as const), names }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), names }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('upgrade' as const), names }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      release: fc.constantFrom(1 as const, 2 as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('customize' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), nth: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rebase' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('undo' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replay' as const) }) },
);

const answer = fc.constantFrom<Answer>('ours', 'theirs', 'abort', 'leave');
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('edit' as const), edit }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('verb' as const), verb, answer }) },
);

export const deeds = fc.array(deed, { minLength: 3, maxLength: 8 });

export const kill: fc.Arbitrary<Kill> = fc.record({
  verb: fc.nat(2),
  moment: fc.integer({ min: 0, max: 999 }).map((n) => n / 1000),
  next: fc.constantFrom('status', 'verify', 'recover', 'abort'),
  again: fc.option(fc.integer({ min: 1, max: 60 }), { nil: null }),
});

export function describeDeed(one: Deed): string {
  if (one.kind === 'verb') return describeVerb(one.verb);
  const { kind, ...rest } = one.edit;
  return `edit: ${kind} ${Object.values(rest).join(' ')}`;
}

function describeVerb(verb: Verb): string {
  if ('names' in verb) return `${verb.kind} ${verb.names.join(' ')}`;
  if (verb.kind === 'update') return `update to release ${verb.release + 1}`;
  return verb.kind === 'drop' ? `remove customisation ${verb.nth}` : verb.kind;
}
