import { defineGuard, type GuardedTool, type ToolTurn } from '../host/contracts/guard.ts';

/** Which agent may call what: main's alone, or only that of a scheduled task. */
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
  if (isTaskOnly === true && !turn.isTask) return 'Somebody has asked and waits for an answer.';
  return null;
}
