import type { Group } from '../../store/store.ts';
import type { TurnResult } from '../turns/turn-result.ts';
import type { Budgets } from './budgets.ts';
import { OWNER_PAUSED } from './notices.ts';

/**
 * Returns the end of a turn whose group may spend nothing more today. The owner is told each time, another chat once
 * a day, and its messages wait for the next turn that can be paid. A task's log says why it did not run.
 */
export function overBudget(
  budgets: Budgets,
  group: Group,
  { isTask }: { readonly isTask: boolean },
): TurnResult {
  // The owner is answered each time: whoever asks from a shell sees no earlier notice.
  const isOwners = group.isMain && !isTask;
  if (!isOwners) budgets.sayPaused(group);
  const run = isTask
    ? ({ outcome: 'skipped', summary: 'the budget of the day was used up' } as const)
    : null;
  return {
    kind: 'ended',
    state: 'failed',
    error: 'BUDGET',
    texts: isOwners ? [OWNER_PAUSED] : [],
    session: null,
    question: null,
    run,
  };
}
