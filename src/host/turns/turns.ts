import type { Store } from '../../store/store.ts';
import type { Asking } from '../asking/asking.ts';
import type { Ports } from '../contracts/ports.ts';
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
import {
  type CommandRunner,
  openCommandRunner,
  openRunningCommand,
} from './commands/command-runner.ts';
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

export type TurnsOptions = Pick<
  AgentTurnOptions,
  'sandbox' | 'chooseModels' | 'chatModels' | 'systemPrompt' | 'budgets'
> &
  Pick<TurnToolsOptions, 'tools' | 'ownTools' | 'guards' | 'fetchAttachment' | 'channelOf'> &
  Pick<CommandContextOptions, 'models' | 'drawsCodes' | 'onProgress'> &
  Pick<TurnQueueOptions, 'onBegan' | 'onEnded' | 'onGivenBack'> & {
    readonly ports: Ports;
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
export function openTurns({ ports, ...parts }: TurnsOptions): Turns {
  const { store } = ports;
  const { asking, channelOf, sandbox, services, chatModels, fetchAttachment } = parts;
  const { outgoingFiles, live } = parts.outbound;
  const { say, tellOwner } = parts.outbound.outgoing;
  const { commands, registry, tasks } = parts.commandServices;
  const callService = services.call;
  const running = openRunningTurns(sandbox.stop);
  const runningCommand = openRunningCommand(commands);
  const typing = openTyping(channelOf, ports.timeouts.typingMs);
  const followUps = openFollowUps({ ...ports, fetchAttachment });
  const contexts = createCommandContexts({
    ...ports,
    ...parts,
    services: {
      ...parts.commandServices,
      retryFailed: (jid) => retryFailedTurns(store, jid, parts.onQueued),
      // One that waits because all agents are busy elsewhere is meant where none is at work here.
      cancelTurns: (folder, saidIn) =>
        running.cancel(folder, saidIn) || store.turns.cancelQueued(folder),
      cancelCommand: runningCommand.cancel,
    },
    callService,
    say,
  });
  const commandRunner = openCommandRunner({
    ...ports,
    commands,
    contexts,
    runningCommand,
    asking,
    typing,
    say,
    cancelTurns: running.cancel,
  });
  const agent: AgentTurnOptions = {
    ...ports,
    ...parts,
    chooseModels: (turn) => parts.chooseModels(turn, callFromRouter(services, turn, running.endOf)),
    modelTroubles: openModelTroubles(chatModels),
    tellOwner,
    atWork: () => running.agents().length,
    endOf: running.endOf,
    isStopping: () => turnQueue.isDraining(),
  };
  const toolParts = { ...ports, ...parts, registry, tasks, outgoingFiles, callService, say };
  const records = openTurnRecords(ports);
  const runAgent = createAgentRunner({
    ...ports,
    records,
    contexts,
    asking,
    followUps,
    outgoingFiles,
    typing,
    live,
    runTurn: (turn, callbacks) => runAgentTurn(agent, turn, callbacks),
    openTools: (work) => openTurnTools(toolParts, work),
    toolsReady: (turn, folder) => services.toolsReady(folder, running.endOf(turn.id)),
  });
  const turnQueue = openTurnQueue({
    ...ports,
    running,
    records,
    runAgent,
    runCommand: commandRunner.run,
    toTell: (turn, result) =>
      taskResult(store, turn, deliveredResult({ store, services }, turn, result)),
    onBegan: parts.onBegan,
    onEnded: parts.onEnded,
    onGivenBack: parts.onGivenBack,
  });
  const serviceCalls = openServiceCalls({ ...ports, toolParts, asking });
  const stopTurn = running.cancelTurn;
  return { turnQueue, commandRunner, followUps, serviceCalls, stopTurn };
}

/** Queues again what has failed, in one chat or in all; returns how many turns that were. */
function retryFailedTurns(store: Store, jid: string | null, onQueued: () => void): number {
  const turns = store.turns.failed().filter((turn) => jid === null || turn.jid === jid);
  for (const turn of turns) store.turns.requeue(turn.id);
  onQueued();
  return turns.length;
}
