import type { Channel } from '../../channels/channel.ts';
import { modelReport } from '../../model/model.ts';
import type { Group, NewOutbound, Turn } from '../../store/store.ts';
import { questionOfAgent } from '../asking/agent-question.ts';
import type { AskedAbout, Asking } from '../asking/asking.ts';
import type { AskQuestion } from '../contracts/ask.ts';
import type { CommandContext, Resumption } from '../contracts/command.ts';
import type { HostOptions } from '../contracts/options.ts';
import type { OutgoingFiles } from '../outbound/outgoing-files.ts';
import { taskOfTurn } from '../scheduler/task-turn.ts';
import { runAgentTurn } from './agent/agent-turn.ts';
import type { FollowUps } from './agent/follow-ups.ts';
import {
  type CommandTurnOptions,
  resumeCommandTurn,
  runCommandTurn,
  saidIn,
} from './commands/command-turn.ts';
import {
  givenByMember,
  type MembersCommandOptions,
  runMembersCommand,
} from './commands/members-command-turn.ts';
import { openRunningCommand } from './commands/running-command.ts';
import { openAgentCommands } from './tool-calls/agent-command.ts';
import { askAboutCall } from './tool-calls/ask-about-call.ts';
import { upToLimit } from './tool-calls/message-limit.ts';
import { callTool, offerOf } from './tool-calls/tool-calls.ts';
import { answered, failed, type TurnResult } from './turn-result.ts';
import { openTyping } from './typing.ts';

/** Runs the turns that were claimed: an agent's, and an owner's command. */
export interface TurnRunners {
  runAgent(turn: Turn): Promise<TurnResult>;
  runCommand(turn: Turn): Promise<TurnResult>;
  /** Finishes a command that another process began. */
  resumeCommand(turn: Turn, resumption: Resumption): Promise<TurnResult>;
}

type Tools = Parameters<typeof callTool>[0];
type AgentTurnParts = Parameters<typeof runAgentTurn>[0];

/** The turn of a queued message, and its kind. */
export type MessageAbout = Pick<
  NewOutbound,
  'turnId' | 'isProgress' | 'isReaction' | 'replyTo' | 'attachments'
>;

export type TurnRunnerParts = Omit<HostOptions, 'services'> &
  Pick<
    CommandContext,
    'budgets' | 'pages' | 'registry' | 'services' | 'tasks' | 'addressOf' | 'retryFailed'
  > &
  Pick<CommandContext, 'cancelTurns'> &
  Pick<Tools, 'fetchAttachment'> & {
    /** Messages that arrive while a turn runs. */
    readonly meanwhile: FollowUps;
    /** Asks people in the middle of a turn. */
    readonly asking: Asking;
    readonly outgoingFiles: OutgoingFiles;
    readonly channelOf: (jid: string) => Channel | undefined;
    /** Queues a message; with a turn, as part of what that turn answers. */
    readonly say: (jid: string, text: string, about: MessageAbout) => void;
  };

export function openTurnRunners(parts: TurnRunnerParts): TurnRunners {
  const { store, channels, channelOf, meanwhile, say, timeouts } = parts;
  const typing = openTyping(timeouts.typingMs);
  const runningCommand = openRunningCommand(parts.commands);
  const unstoppable = new AbortController().signal;

  function runAgent(turn: Turn): Promise<TurnResult> {
    const isAsked = taskOfTurn(store, turn) === null;
    let isSilent = false;
    const beSilent = (): void => {
      isSilent = true;
    };
    const group = store.groups.byJid(turn.jid);
    if (group === null) return Promise.resolve(failed('UNREGISTERED', UNREGISTERED));
    const commands = openAgentCommands({ ...commandOptions(turn, group), jid: turn.jid });
    // What the turn is offered is what it can call, whatever becomes of a list meanwhile.
    const ask = asker(turn);
    const toolsNow = parts.tools.list();
    const tools: Tools = {
      tools: toolsNow,
      isTask: !isAsked,
      guards: parts.guards,
      askOwner: (call, reason) => askAboutCall((question) => ask(question, 'owner'), call, reason),
      ask: async ({ to, ...question }) =>
        await ask(question, to === undefined ? 'owner' : memberOf(turn.jid, to)),
      jid: turn.jid,
      store,
      registry: parts.registry,
      tasks: parts.tasks,
      fetchAttachment: parts.fetchAttachment,
      timeZone: parts.timeZone,
      send: upToLimit(async (jid, text, { attachments: paths = [], isReaction = false } = {}) => {
        const turnId = isAsked && jid === turn.jid ? turn.id : null;
        const replyTo = isReaction ? lastAsked(turnId) : null;
        const about: MessageAbout = { turnId, replyTo, isReaction };
        if (paths.length === 0) return say(jid, text, about);
        await parts.outgoingFiles.take(group.folder, paths, (attachments) =>
          say(jid, text, { ...about, attachments }),
        );
      }),
      reachOf,
      capabilitiesOf: (jid) => channelOf(jid)?.capabilities ?? {},
      ownerCommand: commands.call,
      staySilent: isAsked ? null : beSilent,
    };
    const given: AgentTurnParts = {
      ...parts,
      onTool: (call) => callTool(tools, call),
      onAsk: async (question) => await ask(questionOfAgent(question, group), 'owner'),
      toolsFor: (kind) => offerOf(toolsNow, parts.guards, kind),
      isSilent: () => isSilent,
    };
    const run = async (more: Pick<AgentTurnParts, 'followUps'>) =>
      commands.withQuestion(await runAgentTurn({ ...given, ...more }, turn));
    // Scheduled turns show no typing indicator and take no follow-ups; a message that arrives meanwhile
    // gets its own turn.
    if (!isAsked) return run({});
    return whileTyping(turn, () => run({ followUps: meanwhile.eventsOf(turn) })).finally(() =>
      meanwhile.close(turn),
    );
  }

  function lastAsked(turnId: string | null): string {
    const id = turnId === null ? undefined : store.turns.asked(turnId).at(-1);
    if (id !== undefined) return id;
    throw new Error('There is no message there to react to: this turn answers none of that chat.');
  }

  function asker({ id: turnId, kind }: Turn) {
    const isCommand = kind === 'command';
    return (question: AskQuestion, to: AskedAbout['to']) =>
      parts.asking.ask(question, { turnId, to, isCommand });
  }

  function memberOf(jid: string, sender: string): AskedAbout['to'] {
    if (store.messages.sendersOf(jid).some((one) => one.sender === sender)) return { jid, sender };
    throw new Error(`Nobody with the id ${sender} has written in this chat.`);
  }

  function reachOf(jid: string): ReturnType<Tools['reachOf']> {
    const channel = channelOf(jid);
    if (channel === undefined) return 'gone';
    return channel.status().state === 'connected' ? 'connected' : 'waiting';
  }

  function whileTyping<T>({ jid }: Turn, run: () => Promise<T>): Promise<T> {
    return typing.during({ jid, channel: channelOf(jid) }, run);
  }

  /** Field by field: an owner's command holds what its contract names. */
  function commandOptions(turn: Turn, group: Group, signal = unstoppable): CommandTurnOptions {
    return {
      context: {
        store,
        group,
        settings: parts.settings,
        engines: parts.engines.map(({ name, limits }) => ({ name, limits })),
        model: modelReport(parts.models),
        projectDir: parts.projectDir,
        version: parts.version,
        claw: parts.claw,
        git: parts.git,
        commands: parts.commands,
        addressOf: parts.addressOf,
        budgets: parts.budgets,
        registry: parts.registry,
        services: parts.services,
        pages: parts.pages,
        tasks: parts.tasks,
        isSet: parts.isSet,
        settingsProblem: parts.settingsProblem,
        retryFailed: parts.retryFailed,
        cancelTurns: parts.cancelTurns,
        now: parts.now,
        newId: parts.newId,
        silentChannels: parts.silentChannels ?? [],
        silentParts: parts.silentParts ?? [],
        signal,
        drawsCodes: parts.drawsCodes && turn.jid === parts.mainChat.jid,
        cancelCommand: runningCommand.cancel,
        channels: () => channels.map(describeChannel),
        sandbox: describeSandbox,
        progressMs: timeouts.progressMs,
        say: (text) => say(turn.jid, text, { turnId: turn.id }),
        ask: (question) => asker(turn)(question, { jid: turn.jid, sender: null }),
        sayProgress: (text) => say(turn.jid, text, { turnId: turn.id, isProgress: true }),
      },
      keep: (payload) => store.turns.keep(turn.id, parts.instance, payload),
    };
  }

  function membersOptions(turn: Turn, group: Group): MembersCommandOptions {
    const { commands, settings, timeZone, now, newId } = parts;
    return {
      commands,
      group,
      assistantName: settings.assistantName,
      timeZone,
      now,
      newId,
      say: (text) => say(turn.jid, text, { turnId: turn.id }),
      askSender: (sender, question) => asker(turn)(question, { jid: turn.jid, sender }),
      beginConversation: () => store.sessions.reset(group.folder, newId(), now()),
      stopAgent: () => parts.cancelTurns(group.folder),
    };
  }

  async function runCommand(turn: Turn): Promise<TurnResult> {
    const group = store.groups.byJid(turn.jid);
    if (group === null) return failed('UNREGISTERED', UNREGISTERED);
    const said = saidIn(turn.payload);
    if (said !== null) return answered(said);
    const request = givenByMember(turn.payload);
    if (request !== null) return await runMembersCommand(membersOptions(turn, group), request);
    return await runningCommand.during(turn, (signal) =>
      runCommandTurn(commandOptions(turn, group, signal), turn),
    );
  }

  async function resumeCommand(turn: Turn, resumption: Resumption): Promise<TurnResult> {
    const group = store.groups.byJid(turn.jid);
    if (group === null) return failed('UNREGISTERED', UNREGISTERED);
    return await runningCommand.during(turn, (signal) =>
      resumeCommandTurn(commandOptions(turn, group, signal), turn, resumption),
    );
  }

  async function describeSandbox(): Promise<string> {
    const opened = await parts.sandbox.open();
    if (opened.kind === 'unavailable') return opened.advice;
    const warm = opened.sandbox.warm();
    return `${opened.sandbox.description}, ${warm} ${warm === 1 ? 'container' : 'containers'}`;
  }

  return {
    runAgent: (turn) => runAgent(turn).finally(() => parts.asking.abandon(turn.id)),
    runCommand: (turn) =>
      whileTyping(turn, () => runCommand(turn)).finally(() => parts.asking.abandon(turn.id)),
    resumeCommand: (turn, resumption) =>
      resumeCommand(turn, resumption).finally(() => parts.asking.abandon(turn.id)),
  };
}

const UNREGISTERED = 'This chat is not registered any more.';

function describeChannel(channel: Channel): ReturnType<CommandContext['channels']>[number] {
  return {
    name: channel.name,
    status: channel.status(),
    isOpen: channel.isOpen === true,
    allowSetting: channel.allowSetting ?? null,
    pairing: channel.pairing ?? null,
  };
}
