import { localTime } from '../../host/scheduler/local-time.ts';
import { oneLine } from '../../host/scheduler/one-line.ts';
import type { Spawn } from './book.ts';

/** Returns the first words of a sub-agent's system prompt. */
export function headOf(assistantName: string, now: number, timeZone: string): string {
  return `You are a sub-agent of ${assistantName}, a personal assistant. You work on one task, apart from the conversation in which it came up: you know nothing of that but the task. Your last message is your result, and the only one that is read. Nobody answers questions; where something is open, decide, and say so in the result.\n\nNow: ${localTime(now, timeZone)} (${timeZone}). Your folder is /workspace/group, which the assistant and other sub-agents use at the same time.`;
}

const CONTEXT = '\n\n# Context\n\n';

/** Returns a task as its sub-agent gets it, with what it has to know below. */
export function taskWithContext(task: string, context: string): string {
  return context.trim() === '' ? task : `${task}${CONTEXT}${context}`;
}

function withoutContext(task: string): string {
  return task.split(CONTEXT)[0] ?? task;
}

/** Returns the task of the chat's own agent, when a sub-agent has ended. */
export function reportPrompt(spawn: Spawn): string {
  const { number, task, state, result } = spawn;
  const about = `A sub-agent that you started (number ${number}) for this task has ended:\n${withoutContext(task)}`;
  const said =
    state === 'done' ? `Its result:\n${result}` : `It gave no result (${state}): ${result}`;
  const todo =
    'Tell the chat what it should know of that, in a message that can be understood without the above. Do not start another sub-agent for the same task.';
  return [about, said, todo].join('\n\n');
}

/** Returns the message for a chat whose agent cannot tell of a result. */
export function rawReport({ number, task, state, result }: Spawn): string {
  return `Sub-agent ${number} (“${oneLine(withoutContext(task), 80)}”), ${state}:\n\n${result}`;
}

/** Returns the list for the owner. */
export function listOf(spawns: readonly Spawn[], now: number, timeZone: string): string {
  if (spawns.length === 0)
    return 'There were no sub-agents yet. The agent starts them where that helps.';
  return spawns.map((spawn) => lineOf(spawn, now, timeZone)).join('\n');
}

/** Returns one of them for the owner, with its result. */
export function oneOf(spawn: Spawn, now: number, timeZone: string): string {
  const result = spawn.result === null ? '' : `\n\n${spawn.result}`;
  return `${lineOf(spawn, now, timeZone)}\n\n${spawn.task}${result}`;
}

function lineOf(spawn: Spawn, now: number, timeZone: string): string {
  const { number, task, folder, profile, state, waits, startedAt, endedAt } = spawn;
  const minutes = Math.max(0, Math.round(((endedAt ?? now) - startedAt) / 60_000));
  const kind = [folder, profile, waits ? 'waited for' : null].filter((word) => word !== null);
  return `- **${number}.** ${oneLine(withoutContext(task), 80)} (${kind.join(', ')}) · ${localTime(startedAt, timeZone)} · ${state}, ${minutes} min`;
}
