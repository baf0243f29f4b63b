import { faultKindOf, type ToolFaultKind } from '../../../lib/tool-fault.ts';
import type {
  HostTool,
  HostToolCall,
  HostToolResult,
  OwnToolVerdict,
} from '../../../sandbox/sandbox.ts';
import type { Group, Store } from '../../../store/store.ts';
import type { GuardedCall, ToolTurn } from '../../contracts/guard.ts';
import type { Elsewhere, Tool, ToolCall } from '../../contracts/tool.ts';
import type { CallJournal, JournaledCall, SeenResult } from './call-journal.ts';
import type { AskOwner, Guards } from './guarded-calls.ts';
import type { OutsideWords } from './outside-words.ts';
import { describeTool } from './toolbox.ts';

export type ToolCallOptions = Omit<
  ToolCall,
  'caller' | 'signal' | 'callService' | 'idempotencyKey'
> & {
  readonly callService: (
    service: string,
    request: unknown,
    signal: AbortSignal,
  ) => Promise<unknown>;
  readonly tools: readonly Tool[];
  /** The chat whose turn the agent works on. */
  readonly jid: string;
  readonly isTask: boolean;
  /** The id of the turn. */
  readonly turn: string;
  readonly outside: Pick<OutsideWords, 'source' | 'note'>;
  readonly guards: Guards;
  readonly askOwner: AskOwner;
  /** The calls of the turn; null where nothing is stored of it. */
  readonly journal: Pick<CallJournal, 'hostCall'> | null;
};

type OfCall = Pick<ToolCallOptions, 'isTask' | 'turn' | 'outside'>;

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
  if (tool === undefined) return refusal('not-found', `There is no host tool ${call.name}.`);
  const caller = callerOf(options, call);
  if (caller === null) return refusal('not-allowed', 'This chat is not registered.');
  if (!options.guards.isOffered(tool, { isMain: caller.isMain, isTask: options.isTask })) {
    return refusal('not-allowed', await whyNotOffered(options, tool, caller, call.input));
  }
  const input = tool.input.safeParse(call.input);
  if (!input.success)
    return refusal('bad-arguments', `The input does not fit: ${input.error.issues[0]?.message}`);
  const journaled = journaledCall(options, tool, input.data);
  // Nobody is asked again about what was done.
  if (journaled?.repeated) return journaled.repeated;
  const elsewhere = elsewhereOf(options, tool, caller, input.data);
  const guarded = guardedCallOf(options, tool, caller, {
    runsIn: 'host',
    elsewhere,
    input: input.data,
  });
  const refused = await options.guards.refusalOf(guarded, options.askOwner);
  if (refused !== null) return refusal('not-allowed', refused);
  // The owner may have taken the chat out while they were asked.
  const stillCaller = callerOf(options, call);
  if (stillCaller === null) return refusal('not-allowed', 'This chat is not registered.');
  // Members may have renamed a chat meanwhile: the yes was for the one that was shown.
  if (elsewhereOf(options, tool, stillCaller, input.data)?.key !== elsewhere?.key) {
    return refusal(
      'not-allowed',
      'What this call acts on has changed since it was looked at. Call it again.',
    );
  }
  if (tool.brings !== 'own') options.outside.note(`\`${tool.name}\``);
  const end = journaled?.begin();
  const { idempotencyKey = null } = journaled ?? {};
  const context = contextOf(options, stillCaller, { signal, idempotencyKey });
  const result = await run(tool, context, input.data);
  const seen = await options.guards.resultOf(guarded, result);
  // A turn that was cut off in the middle of the call does not know whether it took effect. Guards that refuse its
  // result change nothing about that it did.
  if (result.ok || !signal.aborted) end?.({ ...result, value: seen.value });
  return seen;
}

/**
 * Answers whether an agent may run one of its own tools, in the words of the guards that look at it. Never
 * rejects.
 */
export async function checkOwnTool(
  options: OfCall & Pick<ToolCallOptions, 'store' | 'jid' | 'guards' | 'askOwner'>,
  call: HostToolCall,
): Promise<OwnToolVerdict> {
  const { guards, askOwner } = options;
  const caller = callerOf(options, call);
  if (caller === null) return { kind: 'refused', reason: 'This chat is not registered.' };
  const tool = { name: call.name, isMainOnly: false };
  const guarded = guardedCallOf(options, tool, caller, {
    runsIn: 'container',
    elsewhere: null,
    input: call.input,
  });
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
  options: OfCall & Pick<ToolCallOptions, 'store' | 'jid' | 'guards'>,
  ...[{ name, input }, result]: Parameters<SeenResult>
): Promise<HostToolResult> {
  const group = options.store.groups.byJid(options.jid);
  if (group === null) return result;
  const call = guardedCallOf(options, { name, isMainOnly: false }, group, {
    runsIn: 'container',
    elsewhere: null,
    input,
  });
  return await options.guards.resultOf(call, result);
}

/** Why an agent may not call a tool at all, whatever the input; the owner is not asked about that. */
async function whyNotOffered(
  options: OfCall & Pick<ToolCallOptions, 'guards'>,
  tool: Tool,
  caller: Group,
  input: unknown,
): Promise<string> {
  const reason = `This chat may not use ${tool.name}.`;
  const call = guardedCallOf(options, tool, caller, {
    runsIn: 'host',
    elsewhere: null,
    input,
  });
  return (await options.guards.refusalOf(call, () => Promise.resolve(reason), reason)) ?? reason;
}

async function run(tool: Tool, context: ToolCall, input: unknown): Promise<HostToolResult> {
  try {
    return { ok: true, value: await tool.run(context, input) };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return refusal(faultKindOf(error), words);
  }
}

/** Field by field: a guard sees who calls what, and holds neither the tool nor the store. */
function guardedCallOf(
  { isTask, turn, outside }: OfCall,
  { name, isMainOnly, isTaskOnly = false }: Pick<Tool, 'name' | 'isMainOnly' | 'isTaskOnly'>,
  group: Group,
  { runsIn, elsewhere, input }: Pick<GuardedCall, 'runsIn' | 'elsewhere' | 'input'>,
): GuardedCall {
  return {
    tool: { name, isMainOnly, isTaskOnly },
    group: { name: group.name, folder: group.folder, isMain: group.isMain },
    isTask,
    runsIn,
    turn,
    outside: outside.source(),
    elsewhere,
    input,
  };
}

/** A target that cannot be found is none: the tool says so itself. */
function elsewhereOf(
  { store, registry }: Pick<ToolCallOptions, 'store' | 'registry'>,
  tool: Tool,
  caller: Group,
  input: unknown,
): Elsewhere | null {
  try {
    return tool.elsewhere?.({ store, registry, caller }, input) ?? null;
  } catch {
    return null;
  }
}

function callerOf(
  { store, jid }: { readonly store: Store; readonly jid: string },
  { folder }: HostToolCall,
): Group | null {
  const group = store.groups.byJid(jid);
  return group?.folder === folder ? group : null;
}

/** Field by field: a tool holds what the contract names, and nothing that the host has beside it. */
function contextOf(
  options: ToolCallOptions,
  caller: Group,
  { signal, idempotencyKey }: Pick<ToolCall, 'signal' | 'idempotencyKey'>,
): ToolCall {
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
    idempotencyKey,
    signal,
  };
}

function refusal(fault: ToolFaultKind, value: string): HostToolResult {
  return fault === 'failed' ? { ok: false, value } : { ok: false, value, fault };
}
