import { defineGuard, type GuardedTool, type ToolTurn } from '../host/contracts/guard.ts';

/** Denies tools that only main's agent, or only the agent of a scheduled task, may call. */
export const guard = defineGuard({
  name: 'rights',
  order: 100,
  create: () => ({
    isOffered: (tool, turn) => refusalOf(tool, turn) === null,
    before({ tool, group, isTask }) {
      const reason = refusalOf(tool, { isMain: group.isMain, isTask });
      return reason === null ? { kind: 'allow' } : { kind: 'deny', reason };
    },
  }),
});

function refusalOf({ name, isMainOnly, isTaskOnly }: GuardedTool, turn: ToolTurn): string | null {
  if (isMainOnly && !turn.isMain) return `Only the main chat may use ${name}.`;
  if (isTaskOnly === true && !turn.isTask)
    return 'This turn answers a message, and its sender waits for the answer.';
  return null;
}
