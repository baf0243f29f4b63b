import { cutText } from '../../../lib/cut-text.ts';
import type { ChooseModels } from '../../../model/routing.ts';
import type {
  OwnToolRun,
  Sandbox,
  TurnEvents,
  TurnOutcome,
  TurnRequest,
} from '../../../sandbox/sandbox.ts';
import {
  type Group,
  REJECTED,
  runsBeside,
  type Store,
  type Turn,
  type TurnCall,
} from '../../../store/store.ts';
import type { Budgets } from '../../budget/budgets.ts';
import { overBudget } from '../../budget/over-budget.ts';
import type { ToolTurn } from '../../contracts/guard.ts';
import type {
  ClockPort,
  LogPort,
  SettingsPort,
  StorePort,
  TimeZonePort,
} from '../../contracts/ports.ts';
import type { ChatModels } from '../../models/chat-models.ts';
import { type ModelTroubles, successorHint } from '../../models/model-troubles.ts';
import { silently } from '../../scheduler/task-result.ts';
import { type TaskTurn, taskOfTurn, taskPrompt } from '../../scheduler/task-turn.ts';
import { queuedByOf, taskTypeOf } from '../../services/queued-turn.ts';
import type { TurnRecord } from '../record/turn-record.ts';
import type { OutsideWords } from '../tool-calls/outside-words.ts';
import { answered, failed, gaveUp, type TurnResult, unregistered } from '../turn-result.ts';
import type { FollowUpEvents } from './follow-ups.ts';
import type { LazySandbox } from './lazy-sandbox.ts';
import { conversationOf, type PromptParts, promptOf, turnMessages } from './prompt.ts';
import {
  conversationOfTurn,
  nextConversation,
  type TurnConversation,
} from './turn-conversation.ts';
import { chooseTurnModels, type TurnModels } from './turn-models.ts';
import { fetchPictures, messagesWithPictures, type TurnPicturesOptions } from './turn-pictures.ts';
import { type TurnPromptOptions, turnPrompt } from './turn-prompt.ts';

/** Parts that every turn of an agent runs with. */
export type AgentTurnOptions = StorePort &
  SettingsPort &
  ClockPort &
  TimeZonePort &
  LogPort &
  TurnPromptOptions &
  TurnPicturesOptions & {
    readonly sandbox: LazySandbox;
    readonly chooseModels: ChooseModels;
    readonly tellOwner: (text: string) => void;
    readonly chatModels: Pick<ChatModels, 'look'>;
    readonly modelTroubles: ModelTroubles;
    readonly budgets: Budgets;
    /** True once the assistant is being stopped: no further call of the model is made. */
    readonly isStopping: () => boolean;
    /** Returns what is aborted when the turn is ended while it is being prepared. */
    readonly endOf: (turn: string) => AbortSignal;
  };

/** Sentences on tools that a turn has to do without. */
export type MissingTools = {
  readonly forAgent: readonly string[];
  readonly forChat: readonly string[];
};

/** The ways of one turn's agent to the host. */
export type AgentCallbacks = {
  readonly onText?: TurnEvents['onText'];
  readonly onTool: TurnEvents['onTool'];
  readonly onAsk: TurnEvents['onAsk'];
  readonly onOwnToolRun: (run: OwnToolRun) => void;
  readonly onOwnTool: TurnEvents['onOwnTool'];
  readonly guardedOwnTools: TurnRequest['guardedOwnTools'];
  readonly ownToolsOff: TurnRequest['ownToolsOff'];
  readonly record: TurnRecord;
  /** Sentences on tools that could not be had: for the agent, and those that the chat has not been told yet. */
  readonly missingTools: MissingTools;
  readonly outside: Pick<OutsideWords, 'begin' | 'end'>;
  /** Returns the tool calls of earlier runs that were interrupted. */
  readonly earlier: () => Promise<NonNullable<TurnRequest['earlier']>>;
  /** The tools that an agent is offered, by whose turn it is. */
  readonly toolsFor: (turn: ToolTurn) => TurnRequest['tools'];
  /** True once the agent has asked to end this turn without a message. */
  readonly isSilent: () => boolean;
  /** Absent where nothing that is said meanwhile is for this turn. */
  readonly followUps?: FollowUpEvents;
};

/** Lets the group's agent answer the turn's messages or do its task. Never rejects because of model or sandbox. */
export async function runAgentTurn(
  options: AgentTurnOptions,
  turn: Turn,
  callbacks: AgentCallbacks,
): Promise<TurnResult> {
  const ended = options.endOf(turn.id);
  // There is no agent yet that the owner's word could end, and an engine or a service may keep it waiting for minutes.
  const prepared = await unlessEnded(prepare(options, turn, callbacks, ended), ended);
  if (prepared.kind !== 'prepared') return prepared;
  const { outcome, streamed } = await run(options, prepared, callbacks);
  return await conclude(options, prepared, callbacks, outcome, streamed);
}

/** Waits for the preparation of a turn, until the turn is ended; what still runs of it then changes nothing. */
async function unlessEnded(
  preparation: Promise<PreparedTurn | TurnResult>,
  ended: AbortSignal,
): Promise<PreparedTurn | TurnResult> {
  const { promise, resolve } = Promise.withResolvers<TurnResult>();
  const stop = () => resolve(NOT_BEGUN);
  if (ended.aborted) stop();
  ended.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, preparation]);
  } finally {
    ended.removeEventListener('abort', stop);
  }
}

const NOT_BEGUN: TurnResult = failed('CANCELLED', 'It was stopped before it began.');

/** A turn whose agent can begin. */
type PreparedTurn = {
  readonly kind: 'prepared';
  /** How often it was begun, this time included. */
  readonly attempts: number;
  readonly group: Group;
  readonly task: TaskTurn | null;
  readonly conversation: TurnConversation;
  readonly chosen: TurnModels;
  readonly sandbox: Sandbox;
  readonly request: TurnRequest;
};

/** Gathers what the agent needs. @returns the end of the turn where it cannot begin */
async function prepare(
  options: AgentTurnOptions,
  turn: Turn,
  callbacks: AgentCallbacks,
  ended: AbortSignal,
): Promise<PreparedTurn | TurnResult> {
  const { store } = options;
  if (ended.aborted) return NOT_BEGUN;
  const group = store.groups.byJid(turn.jid);
  if (group === null) return unregistered();
  const task = taskOfTurn(store, turn);
  if (task?.task.state === 'cancelled') return silently('skipped', 'cancelled before it began');
  const isTask = task !== null;
  const taskType = taskTypeOf(turn, { isTask });
  const { system, pool } = queuedByOf(turn) ?? {};
  const span = { jid: turn.jid, from: turn.fromSeq, upto: turn.uptoSeq };
  const messages = turnMessages(store, span, options.timeZone);
  const missing = callbacks.missingTools.forAgent;
  const prompt = promptFor(store, turn, { task, messages, system, missing });
  const isAlone = isTask || system !== undefined;
  const wanted = isAlone ? [] : messagesWithPictures(options, turn.jid, messages.messages);
  const chosen = await chooseTurnModels(options, {
    id: turn.id,
    jid: turn.jid,
    group,
    isTask,
    taskType,
    pool,
    prompt,
    hasPictures: wanted.length > 0,
  });
  if (ended.aborted) return NOT_BEGUN;
  if (typeof chosen === 'string') return failed('NO_MODEL', `${chosen} Then ask again.`);
  if (options.budgets.isUsedUp(group.folder)) return overBudget(options.budgets, group, { isTask });
  const opened = await options.sandbox.open();
  if (ended.aborted) return NOT_BEGUN;
  if (opened.kind === 'unavailable') return failed('NO_ENGINE', opened.advice);
  store.taskRuns.start(turn.id, options.now());
  const conversation = conversationOfTurn(options, group, task);
  callbacks.outside.begin(conversation);
  const { beginsAnew, session } = conversation;
  const { models, sideModels } = chosen;
  const about = { turn, group, isTask, taskType, prompt, beginsAnew, models, messages, ended };
  const written = system === undefined ? await turnPrompt(options, about) : { system };
  if (ended.aborted) return NOT_BEGUN;
  const pictures = await fetchPictures(options, group, seesPictures(chosen) ? wanted : []);
  const earlier = await callbacks.earlier();
  if (ended.aborted) return NOT_BEGUN;
  const request: TurnRequest = {
    id: turn.id,
    folder: group.folder,
    isMain: group.isMain,
    isBeside: runsBeside(turn),
    session,
    models,
    sideModels,
    ...written,
    prompt,
    pictures,
    earlier,
    tools: callbacks.toolsFor({ isMain: group.isMain, isTask }),
    guardedOwnTools: callbacks.guardedOwnTools,
    ownToolsOff: callbacks.ownToolsOff,
  };
  const { sandbox } = opened;
  const { attempts } = turn;
  return { kind: 'prepared', attempts, group, task, conversation, chosen, sandbox, request };
}

/** Writes the prompt: the task or the messages, after notes on what the agent would not know. */
function promptFor(
  store: Store,
  turn: Turn,
  work: {
    readonly task: TaskTurn | null;
    readonly messages: PromptParts;
    /** A service's own system prompt: its turn gets its prompt as it is. */
    readonly system: string | undefined;
    readonly missing: readonly string[];
  },
): string {
  const { task, messages, system } = work;
  const missing = system === undefined ? work.missing.map((one) => `(${one})\n`) : [];
  if (task !== null) {
    const asked =
      system === undefined ? taskPrompt(task, conversationOf(messages)) : task.task.prompt;
    return [...missing, asked].join('');
  }
  const leftOut = leftOutNote(store.turns.rejectedBefore(turn.id));
  const ended = endedTurnsNote(store.turnCalls.ofEndedTurns(turn.id));
  return [leftOut, ended, ...missing, promptOf(messages)].join('');
}

function leftOutNote(count: number): string {
  if (count === 0) return '';
  const what = count === 1 ? 'A question before this was' : `${count} questions before this were`;
  return `(${what} left out, because the model's server refused it.)\n`;
}

const MAX_TOLD_CALLS = 20;
const MAX_TOLD_INPUT_BYTES = 300;
const OUTCOMES = { done: 'done', failed: 'failed', running: 'may have been done' } as const;

/** Tells what a turn that the owner stopped, or that was given up, has changed already. */
function endedTurnsNote(calls: readonly TurnCall[]): string {
  if (calls.length === 0) return '';
  const lines = calls.slice(-MAX_TOLD_CALLS).map(({ name, input, outcome }) => {
    const { text, isTruncated } = cutText(input, MAX_TOLD_INPUT_BYTES);
    return `- ${name} ${text}${isTruncated ? '…' : ''}: ${OUTCOMES[outcome]}`;
  });
  const head = 'A turn before this was ended without an answer. It had made these calls:';
  return `(${head}\n${lines.join('\n')})\n`;
}

/** Has the agent work. @returns its outcome, and the text that it wrote until then */
async function run(
  { budgets, isStopping }: AgentTurnOptions,
  { group, chosen, sandbox, request }: PreparedTurn,
  callbacks: AgentCallbacks,
): Promise<{ readonly outcome: TurnOutcome; readonly streamed: string }> {
  const { record, followUps } = callbacks;
  let streamed = '';
  const outcome = await sandbox.runTurn(request, {
    onText(delta) {
      streamed += delta;
      callbacks.onText?.(delta);
    },
    onTool: callbacks.onTool,
    onAsk: callbacks.onAsk,
    onOwnTool: callbacks.onOwnTool,
    onOwnToolRun(run) {
      record.ownTool(run);
      callbacks.onOwnToolRun(run);
    },
    onModelCall: (call, signal) =>
      record.admitted(call, async () =>
        isStopping()
          ? { kind: 'refused', message: 'The assistant is being stopped.' }
          : await budgets.admit(group.folder, call, signal),
      ),
    onModelAnswer: chosen.answered,
    onPromptCut: chosen.promptCut,
    onModelPassedOver(model, failure) {
      record.passedOver(model, failure);
      chosen.passedOver(model, failure);
    },
    ...(followUps === undefined
      ? {}
      : {
          onReady: (send) => followUps.onReady(send, seesPictures(chosen)),
          onAccepted: followUps.onAccepted,
        }),
  });
  callbacks.outside.end();
  return { outcome, streamed };
}

function seesPictures({ models }: TurnModels): boolean {
  return models[0].abilities.vision;
}

/** Makes the turn's result of what came of the agent. */
async function conclude(
  options: AgentTurnOptions,
  { attempts, group, task, conversation, chosen }: PreparedTurn,
  { missingTools, isSilent }: AgentCallbacks,
  outcome: TurnOutcome,
  streamed: string,
): Promise<TurnResult> {
  const isTask = task !== null;
  if (outcome.kind === 'failed' && outcome.code === 'BUDGET') {
    if (!options.isStopping()) return overBudget(options.budgets, group, { isTask });
    const isUnheard = isTask || streamed.trim() === '';
    return { kind: 'given-back', text: isUnheard ? null : `${streamed}\n\n${CUT}` };
  }
  if (outcome.kind === 'failed' && outcome.code === 'MACHINE_LOST' && attempts < MAX_ATTEMPTS) {
    return { kind: 'run-again' };
  }
  if (outcome.kind === 'failed') {
    const hint = await successorHint(options.chatModels, outcome);
    const told = { ...outcome, message: `${outcome.message}${hint}` };
    if (group.isMain || isTask) return failedResult(told, group, task);
    return failedElsewhere(options, told, group);
  }
  options.modelTroubles.forget(troubleOf(group));
  const session = nextConversation(conversation, outcome.session);
  const isEmpty = outcome.text.trim() === '';
  if (isTask && (isEmpty || isSilent())) return silently('silent', outcome.text, session);
  const told = [...missingTools.forChat, ...(await chosen.notices())];
  return answered([...told, textOf(outcome)].join('\n\n'), session);
}

/** A turn that lost this many machines is not run again. */
const MAX_ATTEMPTS = 3;

const CUT = '(I am being stopped in the middle of this. I go on with it when I run again.)';

function failedResult(
  { code, message, reason }: Extract<TurnOutcome, { kind: 'failed' }>,
  group: Group,
  task: TaskTurn | null,
): TurnResult {
  if (task !== null) return failed(code, message);
  // It would be refused again with every later message, so it is left behind.
  if (reason === 'rejected') {
    const retry = group.isMain ? ' Say `/retry` to try it once more.' : '';
    return gaveUp(REJECTED, `${message} This message is left out from now on.${retry}`);
  }
  const again = group.isMain ? 'Say `/retry` to try again.' : 'Ask again to try again.';
  return failed(code, `${message} ${again}`);
}

/** The owner is told once of each kind of trouble; members get no names of hosts, which they cannot do anything with. */
function failedElsewhere(
  { modelTroubles, tellOwner }: Pick<AgentTurnOptions, 'modelTroubles' | 'tellOwner'>,
  outcome: Extract<TurnOutcome, { kind: 'failed' }>,
  group: Group,
): TurnResult {
  const { code, message, reason } = outcome;
  // An agent that the owner stopped is no trouble.
  const isTrouble = code !== 'AGENT_DIED';
  const failure = { code: 'MODEL_FAILED' as const, message, ...(reason && { reason }) };
  if (isTrouble && modelTroubles.note(troubleOf(group), failure)) {
    tellOwner(
      `I could not answer in ${group.name}: ${message} I tell you once, until I answer there again.`,
    );
  }
  const words =
    reason === 'rejected'
      ? "The model's server refused this message."
      : 'I could not answer this: something is wrong with the model or with this computer.';
  const owner = isTrouble ? ' My owner has been told.' : '';
  return failedResult({ ...outcome, message: `${words}${owner}` }, group, null);
}

function troubleOf({ folder }: Group): string {
  return `chat ${folder}`;
}

function textOf({ text, isTruncated }: Extract<TurnOutcome, { kind: 'answered' }>): string {
  const said =
    text.trim() === ''
      ? '(The model ended without an answer. Say `/retry` to ask it again.)'
      : text;
  return isTruncated ? `${said}\n\n(The answer was longer than 1 MB and is cut here.)` : said;
}
