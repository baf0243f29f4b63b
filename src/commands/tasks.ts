import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { oneLine } from '../host/scheduler/one-line.ts';
import { describeSchedule } from '../host/scheduler/schedule.ts';
import { TaskRefused } from '../host/scheduler/task-refused.ts';
import type { Store, Task, TaskRun } from '../store/store.ts';

const USAGE =
  'Say `/tasks` for the list, or `/tasks pause 2`, `resume 2`, `cancel 2`, `run 2 now`, `log 2`; the name of a task does for its number. `/tasks name 2 Morning mail` names one. `/tasks add every 2 hours: look at the mail` adds one.';
const ADD_USAGE = [
  'A new task is its time, a colon, and what to do:',
  '- `/tasks add in 20 minutes: remind me of the tea`',
  '- `/tasks add at 2026-12-24T18:00: wish everybody well`',
  '- `/tasks add every 2 hours: look at the mail`',
  '- `/tasks add cron 30 8 * * 1-5: say what is on today`',
  'A name may come first: `/tasks add "Morning mail" every 2 hours: look at the mail`.',
].join('\n');
/** The time ends at the first colon with a blank after it: `18:00` has none. */
const NEW_TASK =
  /^(?:["“](?<name>[^"”\n]{1,80})["”]\s+)?(?<word>every|at|in|cron)\s+(?<time>.+?)\s*:\s+(?<prompt>\S[\s\S]*)$/i;
const NAME_LENGTH = 80;
const PROMPT_MOST = 20_000;
const LOG_LENGTH = 10;
const PROMPT_LENGTH = 80;

export const command = defineCommand({
  scope: 'owner',
  name: 'tasks',
  topic: 'work',
  help: 'list the scheduled tasks; `/tasks pause|resume|cancel|run|log 2` acts on one; `/tasks add every 2 hours: …` adds one',
  complete: ({ store }) => [
    'add ',
    ...store.tasks
      .open()
      .flatMap(({ id }) =>
        ['cancel', 'log', 'pause', 'resume', 'run'].map((verb) => `${verb} ${id}`),
      ),
  ],
  isQuick: true,
  async run(context, argument) {
    const said = argument.trim().toLowerCase();
    if (said === '') return { kind: 'answer', text: listOf(context) };
    const [, added] = /^add\b\s*([\s\S]*)$/i.exec(argument.trim()) ?? [];
    if (added !== undefined) return { kind: 'answer', text: add(context, added) };
    const [, verb = '', which = ''] =
      /^(pause|resume|cancel|run|log)\s+(.+?)(?:\s+now)?$/.exec(said) ?? [];
    if (verb !== '') return { kind: 'answer', text: actOn(context, verb, which) };
    const [, number = '', name = ''] = /^name\s+#?(\d{1,9})\s+(.+)$/i.exec(argument.trim()) ?? [];
    return { kind: 'answer', text: name === '' ? USAGE : rename(context, Number(number), name) };
  },
});

/** Adds a task to the chat in which it is said, without a model. */
function add(context: CommandContext, said: string): string {
  const { name, word = '', time = '', prompt = '' } = NEW_TASK.exec(said)?.groups ?? {};
  const { group } = context;
  if (word === '') return ADD_USAGE;
  if (prompt.length > PROMPT_MOST) return `A task has at most ${PROMPT_MOST} characters.`;
  const kind = word.toLowerCase();
  const when =
    kind === 'in'
      ? ({ kind: 'at', schedule: `in ${time}` } as const)
      : ({
          kind: kind === 'cron' ? 'cron' : kind === 'every' ? 'every' : 'at',
          schedule: time,
        } as const);
  try {
    return lineOf(context, context.tasks.schedule({ ...when, name, prompt }, group, group.folder));
  } catch (error) {
    if (error instanceof TaskRefused) return `${error.message}\n\n${ADD_USAGE}`;
    throw error;
  }
}

/** Acts on the task of that number, or of that name in any case. */
function actOn(context: CommandContext, verb: string, which: string): string {
  const { tasks } = context.store;
  const [, number] = /^#?(\d{1,9})$/.exec(which) ?? [];
  if (number !== undefined) {
    const task = tasks.byId(Number(number));
    return task === null ? `There is no task ${number}. ${USAGE}` : act(context, verb, task);
  }
  const named = which.replace(/^["“](.*)["”]$/, '$1');
  const [task, other] = tasks.open().filter(({ name }) => name?.toLowerCase() === named);
  if (task === undefined) return `There is no task \`${named}\`. ${USAGE}`;
  if (other === undefined) return act(context, verb, task);
  return `Tasks ${task.id} and ${other.id} have this name: say the number.`;
}

function rename(context: CommandContext, number: number, name: string): string {
  const task = context.store.tasks.byId(number);
  if (task === null) return `There is no task ${number}. ${USAGE}`;
  if (name.length > NAME_LENGTH) return `A name has at most ${NAME_LENGTH} characters.`;
  try {
    return lineOf(context, context.tasks.update(task, { name }));
  } catch (error) {
    if (error instanceof TaskRefused) return error.message;
    throw error;
  }
}

function act(context: CommandContext, verb: string, task: Task): string {
  const { tasks } = context;
  try {
    if (verb === 'log') return logOf(context, task);
    if (verb === 'pause') return lineOf(context, tasks.pause(task));
    if (verb === 'resume') return lineOf(context, tasks.resume(task));
    if (verb === 'cancel') return lineOf(context, tasks.cancel(task));
    tasks.runNow(task);
    return `Task ${task.id} runs now.`;
  } catch (error) {
    if (error instanceof TaskRefused) return error.message;
    throw error;
  }
}

function listOf(context: CommandContext): string {
  const open = context.store.tasks.open();
  if (open.length === 0) return 'Nothing is scheduled. Ask for it: “remind me at six to call Ada”.';
  return open.map((task) => lineOf(context, task)).join('\n\n');
}

/** Returns two lines: what and where, when and how it went. */
function lineOf({ store, tasks }: CommandContext, task: Task): string {
  const { id, folder, name, prompt, schedule, state, nextRun } = task;
  const [last] = store.taskRuns.last(id, 1);
  const when =
    state === 'active' && nextRun !== null ? `next ${localTime(nextRun, tasks.timeZone)}` : state;
  const how =
    last === undefined
      ? 'never run'
      : `last ${localTime(last.dueAt, tasks.timeZone)}: ${howOf(last)}`;
  const called = name === null ? `**${id}.**` : `**${id}. ${oneLine(name, NAME_LENGTH)}:**`;
  const what = `${called} ${oneLine(prompt, PROMPT_LENGTH)} (${chatOf(store, folder)})`;
  const isSaid = when !== state && schedule.kind === 'at' && schedule.timeZone === tasks.timeZone;
  return `${what}\n${[describeSchedule(schedule), ...(isSaid ? [] : [when]), how].join(' · ')}`;
}

function logOf({ store, tasks }: CommandContext, task: Task): string {
  const runs = store.taskRuns.last(task.id, LOG_LENGTH).map((run) => {
    const summary = run.summary === null || run.summary === '' ? '' : `: ${run.summary}`;
    return `- ${localTime(run.dueAt, tasks.timeZone)}, ${howOf(run)}${summary}`;
  });
  const head = `Task ${task.id}, ${task.state}: ${oneLine(task.prompt, PROMPT_LENGTH)}`;
  return [head, runs.join('\n') || 'It has not run yet.'].join('\n\n');
}

function howOf({ outcome, startedAt }: TaskRun): string {
  if (outcome === null) return startedAt === null ? 'waits for its turn' : 'is running';
  return outcome === 'gave_up' ? 'given up' : outcome;
}

function chatOf(store: Store, folder: string): string {
  return store.groups.byFolder(folder)?.name ?? `groups/${folder}, not registered`;
}
