import type {
  HostToolCall,
  HostToolResult,
  OwnToolVerdict,
  TurnRequest,
} from '../../../sandbox/sandbox.ts';
import { isSwitchedOff } from '../../../store/chats/folder-choices.ts';
import type { Group, Task, Turn } from '../../../store/store.ts';
import type { ChannelOf } from '../../address-book.ts';
import type { AskedAbout } from '../../asking/asking.ts';
import type { FetchAttachment } from '../../attachments/attachments.ts';
import type { Ask, AskQuestion, AskReply } from '../../contracts/ask.ts';
import type { Grant, GuardedCall, OwnTools, ToolTurn } from '../../contracts/guard.ts';
import type { LogPort, StorePort, TimeZonePort } from '../../contracts/ports.ts';
import type { ToolChoice } from '../../contracts/service.ts';
import type { ToolCall } from '../../contracts/tool.ts';
import type { Registry } from '../../groups/registry.ts';
import type { Say } from '../../outbound/outgoing.ts';
import type { OutgoingFiles } from '../../outbound/outgoing-files.ts';
import type { TaskBook } from '../../scheduler/task-book.ts';
import type { Services } from '../../services/services.ts';
import type { SeenResult } from './call-journal.ts';
import type { Guards } from './guarded-calls.ts';
import type { OutsideWords } from './outside-words.ts';
import {
  callTool,
  checkOwnTool,
  offerOf,
  ownResultSeen,
  type ToolCallOptions,
} from './tool-calls.ts';
import type { Toolbox } from './toolbox.ts';

/** The host's tools, as the agent of one turn may use them. */
export interface TurnTools {
  /** Describes those that are offered. What a turn is offered it can call, whatever becomes of a list meanwhile. */
  offer(turn: ToolTurn): TurnRequest['tools'];
  call(call: HostToolCall, signal?: AbortSignal): Promise<HostToolResult>;
  /** Returns the tool's own words for what it does; undefined for none. */
  doing(name: string): string | undefined;
  /** The agent's own tools that guards look at, which answer by `check`. */
  readonly guardedOwnTools: OwnTools;
  /** Those that the owner has switched off in this chat. */
  readonly ownToolsOff: readonly string[];
  check(call: HostToolCall): Promise<OwnToolVerdict>;
  /** Returns a result of one of the agent's own tools, of an earlier run, as guards let it be seen. */
  readonly seen: SeenResult;
  /** Tells whether the agent has asked to end this turn without a message. */
  isSilent(): boolean;
}

/** Parts that tools work with, whatever the turn. */
export type TurnToolsOptions = StorePort &
  TimeZonePort &
  LogPort & {
    readonly tools: Toolbox;
    /** Names of the agent's own tools. */
    readonly ownTools: readonly string[];
    readonly guards: Guards;
    readonly registry: Registry;
    readonly tasks: TaskBook;
    readonly outgoingFiles: OutgoingFiles;
    readonly fetchAttachment: FetchAttachment;
    readonly channelOf: ChannelOf;
    readonly callService: Services['call'];
    readonly say: Say;
  };

/** The turn, and what its agent may ask. */
export type ToolsOfTurn = {
  /** Not stored where a service calls, and not an agent: then no message belongs to it. */
  readonly turn: Pick<Turn, 'id' | 'jid'> & { readonly isStored?: boolean };
  readonly group: Group;
  readonly isTask: boolean;
  /** The tools that the service which queued the turn lets it have. */
  readonly choice?: ToolChoice;
  readonly ask: (question: AskQuestion, to: AskedAbout['to']) => Promise<AskReply>;
  readonly ownerCommand: ToolCall['ownerCommand'];
  readonly journal: ToolCallOptions['journal'];
  readonly outside: Pick<OutsideWords, 'source' | 'note' | 'passTo'>;
};

/** Opens the tools for one turn. */
export type OpenTurnTools = (work: ToolsOfTurn) => TurnTools;

/** Opens the tools for one turn of an agent. */
export function openTurnTools(
  options: TurnToolsOptions,
  { turn, group, isTask, ask, ownerCommand, journal, outside, choice = {} }: ToolsOfTurn,
): TurnTools {
  const { store, guards, registry, tasks, fetchAttachment, timeZone, channelOf } = options;
  const off = store.toolSwitches.offIn(group.folder);
  const isOff = (name: string) =>
    isSwitchedOff(off, name) ||
    choice.only?.includes(name) === false ||
    choice.without?.includes(name) === true;
  const all = options.tools.list();
  const isKnown = (name: string) =>
    all.some((tool) => tool.name === name) || options.ownTools.includes(name);
  const unknown = choice.only?.filter((name) => !isKnown(name)) ?? [];
  if (unknown.length > 0) {
    options.log.warn('a turn is to have tools that are not there', {
      turn: turn.id,
      tools: unknown,
    });
  }
  const tools = all
    .filter(({ name }) => !isOff(name))
    .filter(({ folders }) => folders === undefined || folders.includes(group.folder));
  let isSilent = false;

  const callOptions: ToolCallOptions = {
    tools,
    guards,
    isTask,
    journal,
    outside,
    turn: turn.id,
    jid: turn.jid,
    askOwner: (...about) => askAboutCall((question) => ask(question, 'owner'), ...about),
    ask: async ({ to, ...question }) =>
      await ask(question, to === undefined ? 'owner' : findMember(options, turn.jid, to)),
    store,
    registry,
    tasks: markedTasks(tasks, outside),
    fetchAttachment,
    timeZone,
    send: upToLimit(senderFor(options, { turn, group, isTask })),
    reachOf: (jid) => reachOf(channelOf, jid),
    capabilitiesOf: (jid) => channelOf(jid)?.capabilities ?? {},
    ownerCommand,
    callService: (service, request, signal) =>
      options.callService(service, request, {
        folder: group.folder,
        jid: turn.jid,
        turn: turn.id,
        signal,
      }),
    staySilent: isTask
      ? () => {
          isSilent = true;
        }
      : null,
  };
  return {
    doing: (called) => tools.find(({ name }) => name === called)?.doing,
    offer: (kind) => offerOf(tools, guards, kind),
    call: (call, signal) => callTool(callOptions, call, signal),
    guardedOwnTools: guards.ownTools,
    ownToolsOff: options.ownTools.filter(isOff),
    check: (call) => checkOwnTool(callOptions, call),
    seen: (call, result) => ownResultSeen(callOptions, call, result),
    isSilent: () => isSilent,
  };
}

/** Has the tasks that a turn writes keep its mark: their words may be those of others. */
function markedTasks(tasks: TaskBook, { passTo }: Pick<OutsideWords, 'passTo'>): TaskBook {
  const marked = (task: Task): Task => {
    passTo(task.id);
    return task;
  };
  return {
    ...tasks,
    schedule: (...given) => marked(tasks.schedule(...given)),
    update: (...given) => marked(tasks.update(...given)),
  };
}

/** Returns the function by which a tool queues a message; what it says where it was asked belongs to the turn. */
function senderFor(
  { store, say, outgoingFiles }: TurnToolsOptions,
  { turn, group, isTask }: Pick<ToolsOfTurn, 'turn' | 'group' | 'isTask'>,
): ToolCall['send'] {
  return async (jid, text, { attachments: paths = [], isReaction = false } = {}) => {
    const isIts = turn.isStored !== false && !isTask && jid === turn.jid;
    const turnId = isIts ? turn.id : null;
    const replyTo = isReaction ? findLastAsked(store, turnId) : null;
    const about = { turnId, replyTo, isReaction };
    if (paths.length === 0) return say(jid, text, about);
    await outgoingFiles.take(group.folder, paths, (attachments) =>
      say(jid, text, { ...about, attachments }),
    );
  };
}

function findLastAsked(store: TurnToolsOptions['store'], turnId: string | null): string {
  const id = turnId === null ? undefined : store.turns.asked(turnId).at(-1);
  if (id !== undefined) return id;
  throw new Error(
    'There is no message to react to: this turn does not answer a message of that chat.',
  );
}

function findMember({ store }: StorePort, jid: string, sender: string): AskedAbout['to'] {
  if (store.messages.sendersOf(jid).some((one) => one.sender === sender)) return { jid, sender };
  throw new Error(`Nobody with the id ${sender} has written in this chat.`);
}

function reachOf(channelOf: ChannelOf, jid: string): ReturnType<ToolCall['reachOf']> {
  const channel = channelOf(jid);
  if (channel === undefined) return 'gone';
  return channel.status().state === 'connected' ? 'connected' : 'waiting';
}

/**
 * Shows the owner a call as it would run, and waits for their word. The guard adds a reason and wider ways of saying yes,
 * and cannot replace what is shown.
 *
 * @returns why it does not run, in words for the agent; null at a yes
 */
async function askAboutCall(
  ask: Ask,
  { tool, group, input }: GuardedCall,
  reason: string,
  grants: readonly Grant[],
): Promise<string | null> {
  const what = `\`${tool.name}\``;
  const text = `The agent of ${group.name} wants to call ${what}. ${reason}`;
  const choices =
    grants.length === 0
      ? []
      : [
          { word: 'yes', label: 'Yes, this once' },
          ...grants.map(({ word, label }) => ({ word, label })),
          { word: 'no', label: 'No' },
        ];
  try {
    const { word } = await ask({ text, choices, payload: input ?? null, what });
    const grant = grants.find((one) => one.word === word);
    grant?.given();
    return word === 'yes' || grant !== undefined ? null : 'The owner did not allow this call.';
  } catch {
    // Nothing was asked: what cannot be shown whole cannot be allowed.
    return 'The owner would have to allow this call, and it is too long to be shown to them.';
  }
}

/** More than this in one turn is a loop, not a conversation; main may tell every chat something. */
const MAX_MESSAGES = 100;

/**
 * Sends an agent's messages, those of one turn up to a limit: what is queued stays on disk until it is
 * sent, and a chat that is flooded loses its number.
 *
 * @returns a function that throws, in words for the agent, from then on
 */
function upToLimit(send: ToolCall['send']): ToolCall['send'] {
  let sent = 0;
  return (jid, text, along) => {
    if (sent >= MAX_MESSAGES) {
      throw new Error(
        `${MAX_MESSAGES} messages are the most in one turn. Say the rest at its end.`,
      );
    }
    sent += 1;
    return send(jid, text, along);
  };
}
