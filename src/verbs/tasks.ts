import { shortened } from '../lib/graphemes.ts';
import { type TaskOverview, withReadOnlyQueries } from '../store/read-only-queries.ts';
import { printable } from '../supervisor/console/printable.ts';
import { defineVerb, VerbError } from '../verb.ts';
import { STOPPED, tellOrLook, typed } from './assistant/assistant-answer.ts';

/** A task for programs; times are of ISO 8601. */
type TaskEntry = {
  readonly id: number;
  readonly folder: string;
  readonly chat: string | null;
  readonly name: string | null;
  readonly prompt: string;
  readonly kind: 'cron' | 'every' | 'at';
  readonly schedule: string;
  readonly timeZone: string;
  readonly state: string;
  readonly nextRun: string | null;
  readonly lastRun: { readonly at: string; readonly outcome: string | null } | null;
};

const COMMANDS = ['add', 'name', 'pause', 'resume', 'cancel', 'run', 'log'];
const PROMPT_LENGTH = 80;

/** Lists tasks, or passes what is to become of one on. */
export const verb = defineVerb({
  name: 'tasks',
  help: 'list what is scheduled; add one; pause, resume, cancel, run or log one by its number',
  usage: {
    argument: '[action...]',
    help: 'as in the chat: pause 3, or add every 2 hours: look at the mail',
  },
  create:
    ({ dataDir }) =>
    async (call) => {
      const { words } = call;
      const isCommand = words.length > 0;
      if (isCommand && !COMMANDS.includes(words[0] ?? '')) {
        throw new VerbError(
          'usage',
          `Say one of ${COMMANDS.join(', ')}: \`npx claw tasks pause 2\`, \`npx claw tasks add "every 2 hours: look at the mail"\`.`,
        );
      }
      return tellOrLook(call, {
        dataDir,
        // The words of a new task, and of a name, are a text, and not names that may need quotes.
        command:
          `/tasks ${['add', 'name'].includes(words[0] ?? '') ? words.join(' ') : typed(words)}`.trim(),
        isCommand,
        linesOf: taskLines,
        read: (database) =>
          withReadOnlyQueries(database, (queries) => queries.tasks().map(taskEntry)),
      });
    },
});

function taskEntry({ schedule, lastRun, ...task }: TaskOverview): TaskEntry {
  const { id, folder, name, chatName: chat, prompt, state, nextRun } = task;
  const { kind, text, timeZone } = schedule;
  return {
    ...{ id, folder, chat, name, prompt, kind, schedule: text, timeZone, state },
    nextRun: nextRun === null ? null : new Date(nextRun).toISOString(),
    lastRun:
      lastRun === null
        ? null
        : { at: new Date(lastRun.dueAt).toISOString(), outcome: lastRun.outcome },
  };
}

/** Tasks from the database. */
export function taskLines(tasks: readonly TaskEntry[]): readonly string[] {
  if (tasks.length === 0) return ['Nothing is scheduled.', STOPPED];
  return [...tasks.flatMap(linesOfTask), STOPPED].map(printable);
}

function linesOfTask(task: TaskEntry): readonly string[] {
  const { id, name, prompt, chat, folder, kind, schedule, timeZone, state, nextRun, lastRun } =
    task;
  const [first = ''] = prompt.split('\n');
  const called = name === null ? '' : `${name}: `;
  const what = `${called}${shortened(first, PROMPT_LENGTH)}`;
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
