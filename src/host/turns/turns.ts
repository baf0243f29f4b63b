import type { Store } from '../../store/store.ts';
import type { Asking } from '../asking/asking.ts';
import type {
  ClockPort,
  IdPort,
  InstancePort,
  LogPort,
  MainChatPort,
  SettingsPort,
  StorePort,
  TimeoutsPort,
  TimeZonePort,
} from '../contracts/ports.ts';
import type { ServiceCalls } from '../contracts/service.ts';
import { openModelTroubles } from '../models/model-troubles.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { taskResult } from '../scheduler/task-result.ts';
import { callFromRouter } from '../services/early-calls.ts';
import type { Services } from '../services/services.ts';
import { deliveredResult } from '../services/turn-delivery.ts';
import { createAgentRunner } from './agent/agent-runner.ts';
import { type AgentTurnOptions, runAgentTurn } from './agent/agent-turn.ts';
import { type FollowUps, openFollowUps } from './agent/follow-ups.ts';
import {
  type CommandContextOptions,
  type CommandServices,
  createCommandContexts,
} from './commands/command-contexts.ts';
import { type CommandRunner, openCommandRunner } from './commands/command-runner.ts';
import { openRunningCommand } from './commands/running-command.ts';
import { openTurnRecords } from './record/turn-records.ts';
import { openRunningTurns } from './running-turns.ts';
import { openServiceCalls } from './tool-calls/service-calls.ts';
import { openTurnTools, type TurnToolsOptions } from './tool-calls/turn-tools.ts';
import { openTurnQueue, type TurnQueue, type TurnQueueOptions } from './turn-queue.ts';
import { openTyping } from './typing.ts';

/** The turns of all chats: the queue that claims them, and what runs them. */
export type Turns = {
  readonly turnQueue: TurnQueue;
  readonly commandRunner: CommandRunner;
  readonly followUps: FollowUps;
  readonly serviceCalls: ServiceCalls;
  /** Ends the agent of a turn, where it is at work. */
  readonly stopTurn: (id: string) => void;
};

export type TurnsOptions = StorePort &
  SettingsPort &
  MainChatPort &
  InstancePort &
  ClockPort &
  TimeZonePort &
  IdPort &
  LogPort &
  TimeoutsPort &
  Pick<AgentTurnOptions, 'sandbox' | 'chooseModels' | 'chatModels' | 'systemPrompt' | 'budgets'> &
  Pick<TurnToolsOptions, 'tools' | 'ownTools' | 'guards' | 'fetchAttachment' | 'channelOf'> &
  Pick<CommandContextOptions, 'models' | 'drawsCodes'> &
  Pick<TurnQueueOptions, 'onEnded' | 'onGivenBack'> & {
    readonly asking: Asking;
    readonly outbound: Outbound;
    /** Asked what becomes of the turns that services have queued, and called by tools, commands and routers. */
    readonly services: Pick<Services, 'turnEnded' | 'call' | 'toolsReady'>;
    /** Services of an owner's command, but for those that end or repeat turns. */
    readonly commandServices: Omit<
      CommandServices,
      'retryFailed' | 'cancelTurns' | 'cancelCommand'
    >;
    /** Turns wait that were not there before. */
    readonly onQueued: () => void;
  };

/** Opens the turns; none runs before the queue is woken. */
export function openTurns(options: TurnsOptions): Turns {
  const { store, settings, mainChat, instance, now, newId, timeZone, log, timeouts } = options;
  const { asking, channelOf, sandbox } = options;
  const { outgoingFiles } = options.outbound;
  const { say } = options.outbound.outgoing;
  const { commands, registry, tasks } = options.commandServices;
  const running = openRunningTurns(sandbox.stop);
  const runningCommand = openRunningCommand(commands);
  const typing = openTyping(channelOf, timeouts.typingMs);
  const followUps = openFollowUps({
    store,
    instance,
    timeZone,
    log,
    fetchAttachment: options.fetchAttachment,
  });
  const contexts = createCommandContexts({
    services: {
      ...options.commandServices,
      retryFailed: () => retryFailedTurns(store, options.onQueued),
      cancelTurns: running.cancel,
      cancelCommand: runningCommand.cancel,
    },
    models: options.models,
    drawsCodes: options.drawsCodes,
    instance,
    mainChat,
    asking,
    callService: options.services.call,
    say,
  });
  const commandRunner = openCommandRunner({
    store,
    settings,
    now,
    timeZone,
    newId,
    commands,
    contexts,
    runningCommand,
    asking,
    typing,
    say,
    cancelTurns: running.cancel,
  });
  const { chatModels, systemPrompt, budgets } = options;
  const modelTroubles = openModelTroubles(chatModels);
  const chooseModels: typeof options.chooseModels = (turn) =>
    options.chooseModels(turn, callFromRouter(options.services, turn));
  const { tellOwner } = options.outbound.outgoing;
  const agent = {
    store,
    settings,
    now,
    timeZone,
    log,
    sandbox,
    chooseModels,
    chatModels,
    modelTroubles,
    tellOwner,
    systemPrompt,
    services: options.services,
    budgets,
    fetchAttachment: options.fetchAttachment,
    channelOf,
    atWork: () => running.agents().length,
    isEnded: running.isEnded,
    isStopping: () => turnQueue.isDraining(),
  };
  const { tools, ownTools, guards, fetchAttachment } = options;
  const toolParts = {
    store,
    timeZone,
    log,
    tools,
    ownTools,
    guards,
    registry,
    tasks,
    outgoingFiles,
    fetchAttachment,
    channelOf,
    callService: options.services.call,
    say,
  };
  const records = openTurnRecords({ store, now, log });
  const runAgent = createAgentRunner({
    store,
    now,
    log,
    records,
    contexts,
    asking,
    followUps,
    outgoingFiles,
    typing,
    live: options.outbound.live,
    runTurn: (turn, callbacks) => runAgentTurn(agent, turn, callbacks),
    openTools: (work) => openTurnTools(toolParts, work),
    toolsReady: options.services.toolsReady,
  });
  const turnQueue = openTurnQueue({
    store,
    settings,
    instance,
    now,
    newId,
    log,
    timeouts,
    running,
    records,
    runAgent,
    runCommand: commandRunner.run,
    toTell: (turn, result) =>
      taskResult(store, turn, deliveredResult({ store, services: options.services }, turn, result)),
    onEnded: options.onEnded,
    onGivenBack: options.onGivenBack,
  });
  const serviceCalls = openServiceCalls({ toolParts, asking, newId, mainChat });
  const stopTurn = running.cancelTurn;
  return { turnQueue, commandRunner, followUps, serviceCalls, stopTurn };
}

/** Queues again what has failed; returns how many turns that were. */
function retryFailedTurns(store: Store, onQueued: () => void): number {
  const turns = store.turns.failed();
  for (const turn of turns) store.turns.requeue(turn.id);
  onQueued();
  return turns.length;
}
