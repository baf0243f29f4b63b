import type { Group } from '../../store/store.ts';
import type { TurnResult } from '../turns/turn-result.ts';
import type { Budgets } from './budgets.ts';

/**
 * Returns the end of a turn whose group may spend nothing more today: its chat is told once a day, and its
 * messages stay for the next turn that can be paid. A task's log says why it did not run.
 */
export function overBudget(
  budgets: Budgets,
  group: Group,
  { isTask }: { readonly isTask: boolean },
): TurnResult {
  budgets.sayPaused(group);
  const run = isTask
    ? ({ outcome: 'skipped', summary: 'the budget of the day was used up' } as const)
    : null;
  return {
    kind: 'ended',
    state: 'failed',
    error: 'BUDGET',
    texts: [],
    session: null,
    question: null,
    run,
  };
}
