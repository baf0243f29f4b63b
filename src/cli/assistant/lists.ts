import { join } from 'node:path';
import { ClawError, type ResultWith } from '../../engine/commands.ts';
import {
  type ChatOverview,
  type TaskOverview,
  withReadOnlyQueries,
} from '../../store/read-only-queries.ts';
import { ended } from '../result.ts';
import type { Invocation } from '../verb.ts';
import { sayAll } from './chat.ts';
import type { ChatEntry, TaskEntry } from './data.ts';
import { isAssistantRunning } from './running.ts';
import { dataDirOf } from './talk.ts';

const GROUP_COMMANDS = ['register', 'unregister', 'trigger', 'allow'];
const TASK_COMMANDS = ['pause', 'resume', 'cancel', 'run', 'log'];

/**
 * Lists chats, or passes an owner's command on. The list is what the running assistant says; for
 * programs, and where none runs, what its database holds.
 */
export async function groups(invocation: Invocation, words: readonly string[]) {
  const [first = ''] = words;
  const isCommand = GROUP_COMMANDS.includes(first);
  const command = isCommand ? `/${typed(words)}` : `/groups ${typed(words)}`.trim();
  return await tellOrLook(invocation, { verb: 'groups', command, isCommand }, (database) =>
    withReadOnlyQueries(database, (queries) =>
      queries
        .chats()
        .filter(isCalled(words.join(' ')))
        .map(chatEntry),
    ),
  );
}

/** Lists tasks, or passes what is to become of one on. The list comes from where that of groups does. */
export async function tasks(invocation: Invocation, words: readonly string[]) {
  const isCommand = words.length > 0;
  if (isCommand && !TASK_COMMANDS.includes(words[0] ?? '')) {
    const known = TASK_COMMANDS.join(', ');
    throw new ClawError(
      'USAGE',
      `A task can be told: ${known}; then its number, as in \`claw tasks pause 2\`.`,
    );
  }
  const command = `/tasks ${typed(words)}`.trim();
  return await tellOrLook(invocation, { verb: 'tasks', command, isCommand }, (database) =>
    withReadOnlyQueries(database, (queries) => queries.tasks().map(taskEntry)),
  );
}

type Asked<V> = { readonly verb: V; readonly command: string; readonly isCommand: boolean };

async function tellOrLook<V extends 'groups' | 'tasks', Entry>(
  invocation: Invocation,
  { verb, command, isCommand }: Asked<V>,
  read: (database: string) => readonly Entry[],
): Promise<ResultWith<V, { readonly answers: readonly string[] } | readonly Entry[]>> {
  const dataDir = dataDirOf(invocation.root);
  const isRunning = await isAssistantRunning(dataDir);
  if (isRunning && (isCommand || invocation.options.json !== true)) {
    return await sayAll(invocation, verb, [command]);
  }
  if (isCommand) {
    throw new ClawError(
      'ASSISTANT_STOPPED',
      `Only the assistant does that, and it does not run. Start it with claw start, or say claw chat "${command.replaceAll('"', '')}", which starts it for that.`,
    );
  }
  return ended(verb, read(join(dataDir, 'claw.db')));
}

/** Words as the owner would type them: one with spaces stands in quotes. */
function typed(words: readonly string[]): string {
  return words
    .map((word) => (/\s/.test(word) ? `"${word.replace(/["“”„]/g, "'")}"` : word))
    .join(' ');
}

function isCalled(wanted: string): (chat: ChatOverview) => boolean {
  const word = wanted.toLowerCase();
  return ({ name, jid, group }) =>
    [name ?? jid, group?.folder ?? ''].some((text) => text.toLowerCase().includes(word));
}

function chatEntry({ jid, name, group }: ChatOverview): ChatEntry {
  return {
    jid,
    name,
    folder: group?.folder ?? null,
    isMain: group?.isMain ?? false,
    needsTrigger: group?.needsTrigger ?? false,
    trigger: group?.triggerWord ?? null,
  };
}

function taskEntry({ schedule, lastRun, ...task }: TaskOverview): TaskEntry {
  const { id, folder, chatName: chat, prompt, state, nextRun } = task;
  const { kind, text, timeZone } = schedule;
  return {
    ...{ id, folder, chat, prompt, kind, schedule: text, timeZone, state },
    nextRun: nextRun === null ? null : new Date(nextRun).toISOString(),
    lastRun:
      lastRun === null
        ? null
        : { at: new Date(lastRun.dueAt).toISOString(), outcome: lastRun.outcome },
  };
}
