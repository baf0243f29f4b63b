import { StatusData } from '@patchclaw/claw/contract';
import { budgetLine } from '../host/budget/budget-report.ts';
import { describeLayers } from '../host/changes/running-code.ts';
import { dataBy } from '../host/contracts/claw.ts';
import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import type { ServiceReport } from '../host/services/services.ts';
import { whySilent } from '../host/silent-part.ts';
import { readFence } from '../store/backup/fence.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'status',
  topic: 'assistant',
  help: 'show what runs, what waits, and what the code is made of',
  takesNothing: true,
  isQuick: true,
  async run(context) {
    const [sandbox, tree] = await Promise.all([describeSandbox(context), describeTree(context)]);
    const lines = [
      `- version: Patchclaw ${context.version}, called ${context.settings.assistantName}`,
      ...context.channels().map(({ name, status: { state, detail } }) => {
        return `- channel ${name}: ${state}${detail === null ? '' : ` (${detail})`}`;
      }),
      ...fenceLine(context),
      ...(context.silentChannels ?? []).map(
        (channel) => `- channel ${channel.name}: silent (${whySilent(context, channel)})`,
      ),
      ...(context.silentParts ?? []).map(
        (part) =>
          `- ${part.kind} ${part.name}: ${part.effect ?? 'off'} (${whySilent(context, part)})`,
      ),
      ...context.services().map((service) => `- service ${describeService(context, service)}`),
      ...pagesLine(context),
      `- sandbox: ${sandbox}`,
      `- model: ${describeModel(context)}`,
      ...ownModels(context),
      ...context.store.keyTroubles.all().map(({ provider, since, message }) => {
        return `- key of ${provider}: refused since ${localTime(since, context.tasks.timeZone)} (${message})`;
      }),
      `- budget: ${budgetLine(context.budgets.report())}`,
      `- groups: ${describeGroups(context)}`,
      `- queue: ${describeQueue(context)}`,
      ...describeInbound(context),
      ...codeLines(context, tree),
    ];
    return { kind: 'answer', text: lines.join('\n') };
  },
});

function fenceLine({ settings, tasks }: CommandContext): readonly string[] {
  const fence = readFence(settings.dataDir);
  if (fence === null) return [];
  const from = localTime(fence.backupFrom, tasks.timeZone);
  return [
    `- held back: channels and tasks, until you say \`/resume here\` (restored from a backup of ${from})`,
  ];
}

function describeService(
  { tasks: { timeZone } }: CommandContext,
  { name, state, detail }: ServiceReport,
): string {
  if (state.kind === 'failed') {
    const again = localTime(state.againAt, timeZone);
    return `${name}: failed (${state.reason}), is started again ${again}`;
  }
  return `${name}: ${state.kind}${detail === null ? '' : ` (${detail})`}`;
}

function pagesLine({ pages }: CommandContext): readonly string[] {
  const address = pages();
  return address === null ? [] : [`- pages: ${address} (\`npx claw doctor\` says how to get in)`];
}

const SANDBOX_WAIT_MS = 2_000;

/** The first start of a sandbox can take minutes, which an answer about the state must not. */
async function describeSandbox({ sandbox }: CommandContext): Promise<string> {
  const { promise: stillOpening, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve('is being prepared'), SANDBOX_WAIT_MS);
  const opening = sandbox().catch((error: unknown) => `failed to open (${String(error)})`);
  const text = await Promise.race([opening, stillOpening]);
  clearTimeout(timer);
  return text;
}

function describeModel({ model: { name, isThere, hasKey, problem } }: CommandContext): string {
  if (!isThere) return `${name} (off: a setting of it cannot be used)`;
  const isReady = problem() === null;
  const key = hasKey ? 'key is set' : 'needs no key';
  return `${name} (${isReady ? key : 'no key yet: add one with `npx claw setup`'})`;
}

/** Chats with a model of their own. */
function ownModels({ store, models }: CommandContext): readonly string[] {
  const all = models.of(null);
  const chosen = store.groups
    .all()
    .map(({ name, folder }) => ({ name, model: models.of(folder) }))
    .filter(({ model }) => model.from === 'chat')
    .map(({ name, model }) => `${model.name} in ${name}`);
  const forAll = all.from === 'all' ? [`${all.name} in all other chats`] : [];
  const lines = [...chosen, ...forAll];
  return lines.length === 0 ? [] : [`- models by \`/model\`: ${lines.join(', ')}`];
}

function describeGroups({ store }: CommandContext): string {
  const names = store.groups.all().map(({ name, folder }) => `${name} (${folder})`);
  return `${names.length}: ${names.join(', ')}`;
}

function describeQueue({ store }: CommandContext): string {
  const { queued, running, failed, unsent } = store.turns.counts();
  const retry = failed > 0 ? ' (say `/retry all`)' : '';
  // This command is itself one of those that run.
  return `${queued} waiting, ${running - 1} running, ${failed} failed${retry}, ${unsent} unsent`;
}

/** Messages that inbound filters keep or have dropped; nothing where there are none. */
function describeInbound({ store }: CommandContext): readonly string[] {
  const held = store.heldMessages.counted().map(({ messages, problem }) => {
    return `- messages held: ${messages} (${problem ?? 'a filter is at work on them'})`;
  });
  const dropped = store.droppedMessages.counted().map(({ filter, reason, messages }) => {
    return `${messages} by ${filter} (${reason})`;
  });
  return dropped.length === 0 ? held : [...held, `- messages dropped: ${dropped.join(', ')}`];
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

/** Tells what runs from what is in the tree: a command in a shell may have changed that since the start. */
function codeLines({ runningCode }: CommandContext, tree: string): readonly string[] {
  if (!runningCode.isOutdated()) return [`- code: ${tree}`];
  return [
    `- code: ${runningCode.describe()}, as at the start`,
    `- code on disk: ${tree}; say \`/restart\` to run it`,
  ];
}

async function describeTree({ claw }: CommandContext): Promise<string> {
  const result = await claw(['status']);
  const tree = dataBy(StatusData, result);
  if (!result.ok || tree === null) return `unknown (${result.error?.message ?? 'no answer'})`;
  if (!tree.initialised) return 'the release as it came, no skills';
  const edits =
    tree.edits.length > 0 ? `, ${counted(tree.edits.length, 'file')} with edits of your own` : '';
  const pending = tree.pending ? ', a change waits for your decision (`/conflicts`)' : '';
  return `${describeLayers(tree.layers)}${edits}${pending}`;
}
