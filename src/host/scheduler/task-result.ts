import type { NextSession, RunEnd, RunOutcome, Store, Turn } from '../../store/store.ts';
import type { TurnEnd } from '../turns/turn-result.ts';
import { localTime } from './local-time.ts';
import { oneLine } from './one-line.ts';
import { type TaskTurn, taskOfTurn } from './task-turn.ts';

/** Characters of an answer that the log keeps. */
const SUMMARY_LENGTH = 200;

/**
 * Converts the result of a task's turn into what the chat and the task's log get; other turns stay unchanged.
 *
 * A failure names the task, since no question precedes it. It is reported once: further failures in a row are only in
 * the log.
 */
export function taskResult(store: Store, turn: Turn, result: TurnEnd): TurnEnd {
  const found = taskOfTurn(store, turn);
  if (result.kind === 'suspended' || found === null) return result;
  const [text = ''] = result.texts;
  if (result.run !== null) return result;
  const run = runEnd(result.state, text);
  if (result.state === 'answered') return { ...result, run };
  const texts = hasFailedBefore(store, found) ? [] : [failureText(store, found, text)];
  return { ...result, texts, run };
}

/** Returns the end of a task's turn that says nothing in the chat. */
export function silently(
  outcome: 'silent' | 'skipped',
  said: string,
  session: NextSession | null = null,
): TurnEnd {
  return {
    kind: 'ended',
    state: 'answered',
    error: null,
    texts: [],
    session,
    question: null,
    run: runEnd(outcome, said),
  };
}

/** Returns the entry for the log of a task. */
export function runEnd(outcome: RunOutcome, said: string): RunEnd {
  return { outcome, summary: oneLine(said, SUMMARY_LENGTH) };
}

function hasFailedBefore(store: Store, { task }: TaskTurn): boolean {
  // The newest run is the one that has just failed.
  const before = store.taskRuns.last(task.id, 2)[1];
  return before?.outcome === 'failed' || before?.outcome === 'gave_up';
}

function failureText(store: Store, { task }: TaskTurn, reason: string): string {
  const { id, nextRun, schedule, folder } = task;
  const isMain = store.groups.byFolder(folder)?.isMain ?? false;
  const again =
    nextRun !== null
      ? `It runs again ${localTime(nextRun, schedule.timeZone)}; while it goes on failing, that is only noted.`
      : isMain
        ? `It is not due again. Say \`/tasks run ${id} now\` to try again.`
        : 'It is not due again.';
  return `Task ${id} (“${oneLine(task.prompt, SUMMARY_LENGTH)}”) failed: ${reason}\n\n${again}`;
}
