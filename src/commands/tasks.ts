import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { oneLine } from '../host/scheduler/one-line.ts';
import { describeSchedule } from '../host/scheduler/schedule.ts';
import { TaskRefused } from '../host/scheduler/task-refused.ts';
import type { Store, Task, TaskRun } from '../store/store.ts';

const USAGE =
  'Say `/tasks` for the list, or `/tasks pause 2`, `resume 2`, `cancel 2`, `run 2 now`, `log 2`.';
const LOG_LENGTH = 10;
const PROMPT_LENGTH = 80;

export const command = defineCommand({
  scope: 'owner',
  name: 'tasks',
  help: 'lists the scheduled tasks; `/tasks pause 2` pauses one, and so `resume`, `cancel`, `run` and `log`',
  isQuick: true,
  async run(context, argument) {
    const said = argument.trim().toLowerCase();
    if (said === '') return { kind: 'answer', text: listOf(context) };
    const [, verb = '', number = ''] =
      /^(pause|resume|cancel|run|log)\s+#?(\d{1,9})(?:\s+now)?$/.exec(said) ?? [];
    if (verb === '') return { kind: 'answer', text: USAGE };
    const task = context.store.tasks.byId(Number(number));
    const text = task === null ? `There is no task ${number}. ${USAGE}` : act(context, verb, task);
    return { kind: 'answer', text };
  },
});

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
  const { id, folder, prompt, schedule, state, nextRun } = task;
  const [last] = store.taskRuns.last(id, 1);
  const when =
    state === 'active' && nextRun !== null ? `next ${localTime(nextRun, tasks.timeZone)}` : state;
  const how =
    last === undefined
      ? 'never run'
      : `last ${localTime(last.dueAt, tasks.timeZone)}: ${howOf(last)}`;
  const what = `**${id}.** ${oneLine(prompt, PROMPT_LENGTH)} (${chatOf(store, folder)})`;
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
