import { printable } from '../../terminal/printable.ts';
import type { ChatEntry, TaskEntry } from '../assistant/data.ts';

const STOPPED = 'The assistant does not run; this is what it knew last.';
const PROMPT_LENGTH = 80;

/** Chats from the database. */
export function groupLines(chats: readonly ChatEntry[]): readonly string[] {
  const registered = chats.filter(({ folder }) => folder !== null);
  const known = chats.filter(({ folder }) => folder === null);
  return [
    'Registered:',
    ...(registered.length === 0 ? ['  none'] : registered.map(groupLine)),
    ...(known.length === 0
      ? []
      : ['Known:', ...known.map(({ name, jid }) => `  ${name ?? jid} (${jid})`)]),
    STOPPED,
  ].map(printable);
}

function groupLine({ name, folder, isMain, needsTrigger, trigger }: ChatEntry): string {
  const how = needsTrigger ? `answers to ${trigger ?? 'its name'}` : 'answers always';
  return `  ${name} (groups/${folder}, ${isMain ? 'your own chat' : how})`;
}

/** Tasks from the database. */
export function taskLines(tasks: readonly TaskEntry[]): readonly string[] {
  if (tasks.length === 0) return ['Nothing is scheduled.', STOPPED];
  return [...tasks.flatMap(linesOfTask), STOPPED].map(printable);
}

function linesOfTask(task: TaskEntry): readonly string[] {
  const { id, prompt, chat, folder, kind, schedule, timeZone, state, nextRun, lastRun } = task;
  const [first = ''] = prompt.split('\n');
  const what = first.length > PROMPT_LENGTH ? `${first.slice(0, PROMPT_LENGTH - 1)}…` : first;
  const when = nextRun === null ? state : `next ${localTime(nextRun)}`;
  const how =
    lastRun === null
      ? 'never run'
      : `last ${localTime(lastRun.at)}: ${lastRun.outcome ?? 'not ended'}`;
  return [
    `  ${id}. ${what} (${chat ?? `groups/${folder}, not registered`})`,
    `     ${kind} ${schedule} (${timeZone}) · ${when} · ${how}`,
  ];
}

function localTime(iso: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
  return format.format(new Date(iso));
}
