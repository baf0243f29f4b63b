import { join } from 'node:path';
import type { Channel, Frame } from '../../channels/channel.ts';
import type { Loopback, Route } from '../../http/route.ts';
import {
  type NamedContribution,
  openContributions,
  type SilentContribution,
} from '../../lib/contribution.ts';
import type { EmbedForGroup } from '../../lib/embed.ts';
import { readTextBeneath } from '../../lib/open-beneath.ts';
import type { OwnDatabases } from '../../lib/own-database.ts';
import type { Program, ProgramSpec } from '../../lib/program.ts';
import type { Environment } from '../../lib/settings.ts';
import type { KeptReaction } from '../../store/store.ts';
import type { ReadClaw } from '../contracts/claw.ts';
import type { Watch } from '../contracts/live-event.ts';
import type { OwnerActs } from '../contracts/owner-acts.ts';
import type {
  ChannelsPort,
  ClockPort,
  IdPort,
  LogPort,
  ProjectPort,
  SettingsPort,
  StorePort,
  TimeoutsPort,
  TimerPort,
  TimeZonePort,
} from '../contracts/ports.ts';
import type {
  Delivery,
  EndedTurn,
  ServiceCalls,
  ServiceContext,
  ServiceContribution,
  ServiceStore,
  StartService,
} from '../contracts/service.ts';
import type { ServiceCaller } from '../contracts/service-call.ts';
import type { ToolSource } from '../contracts/tool.ts';
import type { DueTasks } from '../scheduler/due-tasks.ts';
import type { LazySandbox } from '../turns/agent/lazy-sandbox.ts';
import { queueMessage, queueTurn, withdrawTurn } from './queued-turn.ts';
import { type ServiceState, superviseService } from './supervise.ts';

/** A service as the owner is told of it. */
export type ServiceReport = {
  readonly name: string;
  readonly state: ServiceState;
  readonly detail: string | null;
};

/** All services of this tree. One that fails touches no other. */
export interface Services {
  start(): void;
  report(): readonly ServiceReport[];
  /** Asks a service what becomes of a turn that it has queued. */
  turnEnded(service: string, turn: EndedTurn): Delivery;
  /** The tools that services offer while they run. */
  readonly toolSources: readonly NamedContribution<ToolSource>[];
  /** Waits, up to a limit, until services know their tools. @returns sentences on tools that are missing */
  toolsReady(folder: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Lets a service answer those who call it by its name. */
  call(service: string, request: unknown, caller: ServiceCaller): Promise<unknown>;
  /** A person has reacted to a message of the assistant's. */
  reacted(reaction: KeptReaction): void;
  /** Offers a frame to one service after the other; true where one takes it. */
  takeFrame(frame: Frame): boolean;
  /** A channel is connected, or is not any more. */
  linkChanged(channel: string, isConnected: boolean): void;
  stop(): Promise<void>;
}

export type ServicesOptions = StorePort &
  SettingsPort &
  ChannelsPort &
  ProjectPort &
  TimeZonePort &
  ClockPort &
  IdPort &
  TimerPort &
  TimeoutsPort &
  LogPort & {
    readonly services: readonly NamedContribution<StartService>[];
    readonly http: Loopback;
    readonly databases: OwnDatabases;
    readonly embed: EmbedForGroup;
    readonly dueTasks: DueTasks;
    readonly sandbox: Pick<LazySandbox, 'open'>;
    readonly calls: ServiceCalls;
    readonly owner: OwnerActs;
    readonly readClaw: ReadClaw;
    readonly newestRelease: ServiceContext['newestRelease'];
    readonly models: ServiceContext['models'];
    readonly modelProblem: ServiceContext['modelProblem'];
    readonly memory: ServiceContext['memory'];
    readonly budgets: ServiceContext['budgets'];
    readonly watch: Watch;
    readonly reportChannels: ServiceContext['channels'];
    readonly channelOf: (jid: string) => Channel | undefined;
    /** Ends the agent of a turn, where it is at work. */
    readonly stopTurn: (id: string) => void;
    /** A turn was queued. */
    readonly onQueued: () => void;
    /** A message waits in the outbox. */
    readonly onMessageQueued: () => void;
  };

/** Opens the services of this tree, each with its own settings; none is started. */
export function openServices(
  definitions: readonly ServiceContribution[],
  environment: Environment,
): {
  readonly services: readonly NamedContribution<StartService>[];
  readonly silent: readonly SilentContribution[];
} {
  const { made, silent } = openContributions(definitions, environment, () => ({}));
  return { services: made, silent };
}

/** Makes the services ready to run, each with a context of its own. */
export function runServices(options: ServicesOptions): Services {
  const { store, log, now, setTimer, timeouts } = options;

  function onState(name: string, state: ServiceState): void {
    log.info('a service changed', { service: name, state: state.kind });
    try {
      const reason = state.kind === 'failed' ? state.reason : null;
      store.services.note({ name, state: state.kind, reason, since: now() });
    } catch (error) {
      // The doctor shows an older state then.
      log.warn('the state of a service was not stored', { service: name, error: String(error) });
    }
  }

  const all = options.services.map(({ name, value }) =>
    superviseService({
      name,
      start: value,
      contextOf: (run) => contextOf(options, name, run),
      now,
      setTimer,
      log,
      closeMs: timeouts.closeMs,
      onState: (state) => onState(name, state),
      connected: () =>
        options.channels
          .filter((channel) => channel.status().state === 'connected')
          .map((channel) => channel.name),
    }),
  );
  return {
    start() {
      store.services.forget();
      for (const service of all) service.start();
    },
    report: () =>
      all.map((service) => ({
        name: service.name,
        state: service.state(),
        detail: service.detail(),
      })),
    turnEnded: (name, turn) =>
      all.find((service) => service.name === name)?.turnEnded(turn) ?? { kind: 'send' },
    toolSources: all.map(({ name, tools }) => ({ name, value: { kind: 'list', list: tools } })),
    async toolsReady(folder, signal) {
      // Nobody reads what a turn that has ended would miss.
      if (signal.aborted) return [];
      const limit = new AbortController();
      const end = () => limit.abort();
      signal.addEventListener('abort', end, { once: true });
      const { promise: late, resolve } = Promise.withResolvers<readonly []>();
      limit.signal.addEventListener('abort', () => setImmediate(resolve, []), { once: true });
      const cancel = setTimer(timeouts.toolsMs, end);
      const missing = await Promise.all(
        // A service that does not hear the abort holds up no turn.
        all.map((service) => Promise.race([service.toolsReady(folder, limit.signal), late])),
      );
      cancel();
      signal.removeEventListener('abort', end);
      return signal.aborted ? [] : missing.flat();
    },
    async call(name, request, caller) {
      const service = all.find((one) => one.name === name);
      if (service === undefined)
        throw new Error(`There is no service ${name} that is switched on.`);
      return await service.call(request, caller);
    },
    reacted(reaction) {
      for (const service of all) service.reacted(reaction);
    },
    takeFrame: (frame) => all.some((service) => service.takeFrame(frame)),
    linkChanged(channel, isConnected) {
      for (const service of all) service.linkChanged(channel, isConnected);
    },
    stop: async () => void (await Promise.all(all.map((service) => service.stop()))),
  };
}

/** Field by field: a service holds what the contract names, and nothing that the host has beside it. */
function contextOf(
  options: ServicesOptions,
  name: string,
  { signal, setTimer, crash }: Pick<ServiceContext, 'signal' | 'setTimer' | 'crash'>,
): ServiceContext {
  const { settings, timeZone, log, now, newId, dueTasks, http } = options;
  return {
    assistantName: settings.assistantName,
    dataDir: settings.dataDir,
    groupsDir: join(options.projectDir, 'groups'),
    timeZone,
    log,
    now,
    newId,
    setTimer,
    signal,
    store: readable(options.store),
    queueTurn: (turn) => queueTurn(options, name, turn),
    queueMessage: (message) =>
      queueMessage({ ...options, onQueued: options.onMessageQueued }, message),
    stopTurn(id) {
      const isOpen = withdrawTurn(options, name, id);
      if (isOpen) options.stopTurn(id);
      return isOpen;
    },
    openDatabase: options.databases.of('service', name),
    embed: options.embed,
    devices: {
      invite: http.devices.invite,
      enter: http.devices.enter,
      list: http.devices.list,
      revoke: http.devices.revoke,
      origins: http.devices.origins,
    },
    route: (route) => registerRoute(options, name, signal, route),
    dueTasks: {
      fire: dueTasks.fire,
      next: dueTasks.next,
      realign: dueTasks.realign,
      onChanged: dueTasks.onChanged,
    },
    ask: (question, own = signal) => options.calls.ask(question, AbortSignal.any([signal, own])),
    tools: { offered: options.calls.offered, call: options.calls.call },
    owner: {
      say: options.owner.say,
      answer: options.owner.answer,
      questions: options.owner.questions,
      file: options.owner.file,
    },
    watch(onEvent) {
      const end = signal.aborted ? () => {} : options.watch(onEvent);
      signal.addEventListener('abort', end, { once: true });
      return end;
    },
    channels: options.reportChannels,
    readClaw: options.readClaw,
    newestRelease: options.newestRelease,
    models: { of: options.models.of, lists: options.models.lists },
    modelProblem: options.modelProblem,
    budgets: { report: options.budgets.report },
    memory: {
      read: options.memory.read,
      last: options.memory.last,
      version: options.memory.version,
    },
    sendFrame: (jid, body) => sendFrame(options, jid, body),
    startProgram: (spec) => startProgram(options, spec, signal),
    readGroupFile: (folder, path) => readGroupFile(options, folder, path),
    crash,
  };
}

async function sendFrame(
  { channelOf }: ServicesOptions,
  jid: string,
  body: Frame['body'],
): Promise<void> {
  const channel = channelOf(jid);
  if (channel === undefined) throw new Error(`No channel has the chat ${jid}.`);
  if (channel.sendFrame === undefined) throw new Error(`${channel.name} carries no frames.`);
  await channel.sendFrame(jid, body);
}

async function startProgram(
  { sandbox }: ServicesOptions,
  spec: ProgramSpec,
  signal: AbortSignal,
): Promise<Program> {
  const opened = await sandbox.open();
  if (opened.kind === 'unavailable') throw new Error(opened.advice);
  signal.throwIfAborted();
  const program = await opened.sandbox.startProgram(spec);
  const stop = (): void => void program.stop();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  void program.ended.then(() => signal.removeEventListener('abort', stop));
  return program;
}

const MAX_FILE_BYTES = 1_048_576;

async function readGroupFile(
  { store, projectDir }: ServicesOptions,
  folder: string,
  path: readonly string[],
): Promise<string | null> {
  const isKnown = folder === 'global' || store.groups.byFolder(folder) !== null;
  if (!isKnown) return null;
  try {
    return await readTextBeneath(join(projectDir, 'groups', folder), path, MAX_FILE_BYTES);
  } catch {
    return null; // Not there, or a link: either way there is no such file.
  }
}

async function registerRoute(
  { http }: ServicesOptions,
  name: string,
  signal: AbortSignal,
  route: Route,
): Promise<{ readonly url: string }> {
  signal.throwIfAborted();
  const { url, remove } = await http.route(name, route);
  if (signal.aborted) remove();
  else signal.addEventListener('abort', remove, { once: true });
  return { url };
}

function readable({
  groups,
  history,
  messages,
  said,
  reactions,
  search,
  senders,
  tasks,
  taskRuns,
  toolSwitches,
  turnRuns,
  turns,
  usage,
}: ServicesOptions['store']): ServiceStore {
  return {
    groups: {
      all: groups.all,
      byFolder: groups.byFolder,
      byJid: groups.byJid,
      main: groups.main,
    },
    history: { page: history.page, whole: history.whole },
    messages: {
      between: messages.between,
      countBetween: messages.countBetween,
      sendersOf: messages.sendersOf,
    },
    said: { after: said.after, extent: said.extent },
    reactions: { since: reactions.since },
    search: { find: search.find },
    senders: { ofGroup: senders.ofGroup },
    tasks: { byId: tasks.byId, open: tasks.open },
    toolSwitches: { offIn: toolSwitches.offIn },
    taskRuns: { costs: taskRuns.costs, last: taskRuns.last },
    turnRuns: { newest: turnRuns.newest, ofTurn: turnRuns.ofTurn, stepsOf: turnRuns.stepsOf },
    turns: { counts: turns.counts, failed: turns.failed, isOpen: turns.isOpen },
    usage: {
      byFolder: usage.byFolder,
      byModel: usage.byModel,
      of: usage.of,
      total: usage.total,
    },
  };
}
