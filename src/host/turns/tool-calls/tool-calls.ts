import type {
  HostTool,
  HostToolCall,
  HostToolResult,
  OwnToolVerdict,
} from '../../../sandbox/sandbox.ts';
import type { Group, Store } from '../../../store/store.ts';
import type { GuardedCall, ToolTurn } from '../../contracts/guard.ts';
import type { Tool, ToolCall } from '../../contracts/tool.ts';
import type { CallJournal, JournaledCall, SeenResult } from './call-journal.ts';
import type { AskOwner, Guards } from './guarded-calls.ts';
import { describeTool } from './toolbox.ts';

export type ToolCallOptions = Omit<ToolCall, 'caller' | 'signal' | 'callService'> & {
  readonly callService: (
    service: string,
    request: unknown,
    signal: AbortSignal,
  ) => Promise<unknown>;
  readonly tools: readonly Tool[];
  /** The chat whose turn the agent works on. */
  readonly jid: string;
  readonly isTask: boolean;
  readonly guards: Guards;
  readonly askOwner: AskOwner;
  /** The calls of the turn; null where nothing is stored of it. */
  readonly journal: Pick<CallJournal, 'hostCall'> | null;
};

/**
 * Describes the tools that the agent of a turn may call, and no others, because every description costs
 * tokens on every call of the model.
 */
export function offerOf(
  tools: readonly Tool[],
  guards: Guards,
  turn: ToolTurn,
): readonly HostTool[] {
  return tools.filter((tool) => guards.isOffered(tool, turn)).map(describeTool);
}

/**
 * Answers an agent's call of a host tool. Never rejects: a refusal is a result the agent can read.
 * Whose it is was decided by the socket, which gave it its folder, and the turn that runs on it;
 * nothing in the input can claim another.
 */
export async function callTool(
  options: ToolCallOptions,
  call: HostToolCall,
  signal: AbortSignal = new AbortController().signal,
): Promise<HostToolResult> {
  const tool = options.tools.find((candidate) => candidate.name === call.name);
  if (tool === undefined) return refusal(`There is no host tool ${call.name}.`);
  const caller = callerOf(options, call);
  if (caller === null) return refusal('This chat is not registered.');
  if (!options.guards.isOffered(tool, { isMain: caller.isMain, isTask: options.isTask })) {
    return refusal(await whyNotOffered(options, tool, caller, call.input));
  }
  const input = tool.input.safeParse(call.input);
  if (!input.success) return refusal(`The input does not fit: ${input.error.issues[0]?.message}`);
  const journaled = journaledCall(options, tool, input.data);
  // Nobody is asked again about what was done.
  if (journaled?.repeated) return journaled.repeated;
  const guarded = guardedCallOf(tool, caller, {
    isTask: options.isTask,
    runsIn: 'host',
    input: input.data,
  });
  const refused = await options.guards.refusalOf(guarded, options.askOwner);
  if (refused !== null) return refusal(refused);
  // The owner may have taken the chat out while they were asked.
  const stillCaller = callerOf(options, call);
  if (stillCaller === null) return refusal('This chat is not registered.');
  const end = journaled?.begin();
  const result = await run(tool, contextOf(options, stillCaller, signal), input.data);
  const seen = await options.guards.resultOf(guarded, result);
  end?.(seen);
  return seen;
}

/**
 * Answers whether an agent may run one of its own tools, in the words of the guards that look at it. Never
 * rejects.
 */
export async function checkOwnTool(
  options: Pick<ToolCallOptions, 'store' | 'jid' | 'isTask' | 'guards' | 'askOwner'>,
  call: HostToolCall,
): Promise<OwnToolVerdict> {
  const { guards, isTask, askOwner } = options;
  const caller = callerOf(options, call);
  if (caller === null) return { kind: 'refused', reason: 'This chat is not registered.' };
  const tool = { name: call.name, isMainOnly: false };
  const guarded = guardedCallOf(tool, caller, { isTask, runsIn: 'container', input: call.input });
  const reason = await guards.refusalOf(guarded, askOwner);
  if (reason !== null) return { kind: 'refused', reason };
  const after = (result: HostToolResult) => guards.resultOf(guarded, result);
  return { kind: 'allowed', after: guards.seesResult(guarded) ? after : null };
}

function journaledCall(
  { journal }: Pick<ToolCallOptions, 'journal'>,
  { name, repeat = 'once' }: Tool,
  input: unknown,
): JournaledCall | null {
  if (journal === null || repeat === 'each-run') return null;
  return journal.hostCall({ name, input, isRepeatable: repeat === 'harmless' });
}

/** Returns a result of one of an agent's own tools as the guards let a later run of the turn see it. */
export async function ownResultSeen(
  { guards, isTask, ...options }: Pick<ToolCallOptions, 'store' | 'jid' | 'isTask' | 'guards'>,
  ...[{ name, input }, result]: Parameters<SeenResult>
): Promise<HostToolResult> {
  const group = options.store.groups.byJid(options.jid);
  if (group === null) return result;
  const call = guardedCallOf({ name, isMainOnly: false }, group, {
    isTask,
    runsIn: 'container',
    input,
  });
  return await guards.resultOf(call, result);
}

/** Why an agent may not call a tool at all, whatever the input; the owner is not asked about that. */
async function whyNotOffered(
  { guards, isTask }: Pick<ToolCallOptions, 'guards' | 'isTask'>,
  tool: Tool,
  caller: Group,
  input: unknown,
): Promise<string> {
  const reason = `This chat may not use ${tool.name}.`;
  const call = guardedCallOf(tool, caller, { isTask, runsIn: 'host', input });
  return (await guards.refusalOf(call, () => Promise.resolve(reason), reason)) ?? reason;
}

async function run(tool: Tool, context: ToolCall, input: unknown): Promise<HostToolResult> {
  try {
    return { ok: true, value: await tool.run(context, input) };
  } catch (error) {
    return refusal(error instanceof Error ? error.message : String(error));
  }
}

/** Field by field: a guard sees who calls what, and holds neither the tool nor the store. */
function guardedCallOf(
  { name, isMainOnly, isTaskOnly = false }: Pick<Tool, 'name' | 'isMainOnly' | 'isTaskOnly'>,
  group: Group,
  { isTask, runsIn, input }: Pick<GuardedCall, 'isTask' | 'runsIn' | 'input'>,
): GuardedCall {
  return {
    tool: { name, isMainOnly, isTaskOnly },
    group: { name: group.name, folder: group.folder, isMain: group.isMain },
    isTask,
    runsIn,
    input,
  };
}

function callerOf(
  { store, jid }: { readonly store: Store; readonly jid: string },
  { folder }: HostToolCall,
): Group | null {
  const group = store.groups.byJid(jid);
  return group?.folder === folder ? group : null;
}

/** Field by field: a tool holds what the contract names, and nothing that the host has beside it. */
function contextOf(options: ToolCallOptions, caller: Group, signal: AbortSignal): ToolCall {
  const { store, send, ask, reachOf, capabilitiesOf, registry, tasks } = options;
  const { fetchAttachment, timeZone, ownerCommand, staySilent } = options;
  return {
    caller,
    store,
    send,
    ask,
    reachOf,
    capabilitiesOf,
    registry,
    tasks,
    fetchAttachment,
    timeZone,
    ownerCommand,
    callService: (service, request) => options.callService(service, request, signal),
    staySilent,
    signal,
  };
}

function refusal(value: string): HostToolResult {
  return { ok: false, value };
}
