import type { Channel } from '../../../channels/channel.ts';
import type { KnownMachines } from '../../../lib/machines.ts';
import { type HostModels, modelReport } from '../../../model/model.ts';
import type { Group, Turn } from '../../../store/store.ts';
import { addressReaderOf } from '../../address-book.ts';
import type { Asking } from '../../asking/asking.ts';
import type { ClawProgress } from '../../contracts/claw.ts';
import type { CommandContext } from '../../contracts/command.ts';
import type { InstancePort, MainChatPort } from '../../contracts/ports.ts';
import type { Say } from '../../outbound/outgoing.ts';
import type { Services } from '../../services/services.ts';
import type { LazySandbox } from '../agent/lazy-sandbox.ts';
import type { CommandTurnOptions } from './command-turn.ts';

/** Services that every owner's command gets, in whatever turn it runs. Each field is named by its contract. */
export type CommandServices = Omit<
  CommandContext,
  | 'group'
  | 'message'
  | 'model'
  | 'signal'
  | 'drawsCodes'
  | 'say'
  | 'sayProgress'
  | 'showProgress'
  | 'ask'
  | 'keep'
  | 'callService'
  | 'cancelTurns'
> & {
  /** `saidIn` is the chat of the command, whose answer is enough there. */
  readonly cancelTurns: (folder: string, saidIn: string) => number;
};

export type CommandContextOptions = InstancePort &
  MainChatPort & {
    readonly services: CommandServices;
    readonly models: HostModels;
    /** True if the terminal draws codes. */
    readonly drawsCodes: boolean;
    readonly say: Say;
    readonly asking: Asking;
    readonly callService: Services['call'];
    readonly onProgress: (turn: Turn, progress: ClawProgress) => void;
  };

/** Makes the context of a command that a turn runs, or that its agent may call. */
export type CommandContexts = (turn: Turn, group: Group, signal: AbortSignal) => CommandTurnOptions;

/** Creates contexts of commands: the parts that all share, and those of one turn. */
export function createCommandContexts(options: CommandContextOptions): CommandContexts {
  const { services, models, instance, mainChat, drawsCodes, say, asking, callService, onProgress } =
    options;
  return (turn, group, signal) => {
    const { id, jid } = turn;
    return {
      context: {
        ...services,
        cancelTurns: (folder) => services.cancelTurns(folder, jid),
        group,
        message: () => services.store.messages.bySeq(turn.uptoSeq),
        model: modelReport(models),
        signal,
        drawsCodes: drawsCodes && jid === mainChat.jid,
        say: (text) => say(jid, text, { turnId: id }),
        sayProgress: (text) => say(jid, text, { turnId: id, isProgress: true }),
        showProgress: (progress) => onProgress(turn, progress),
        callService: (service, request) =>
          callService(service, request, { folder: group.folder, jid, turn: null, signal }),
        ask: (question) => asking.ask(question, { turn, to: { jid, sender: null } }),
      },
      keep: (payload) => services.store.turns.keep(id, instance, payload),
    };
  };
}

/** Describes a channel as an owner's command sees it. */
export function describeChannel(channel: Channel): ReturnType<CommandContext['channels']>[number] {
  return {
    status: channel.status(),
    isOpen: channel.isOpen === true,
    allowSetting: channel.allowSetting ?? null,
    pairing: channel.pairing ?? null,
    ...addressReaderOf(channel),
  };
}

/** Says in one line what runs the agents, or what to install. */
export async function describeSandbox(sandbox: LazySandbox): Promise<string> {
  const opened = await sandbox.open();
  if (opened.kind === 'unavailable') return opened.advice;
  const warm = opened.sandbox.warm();
  return `${opened.sandbox.description}, ${warm} ${warm === 1 ? 'container' : 'containers'}`;
}

/** Returns the other machines; none if no agent can run. */
export async function machinesOf(sandbox: LazySandbox): Promise<KnownMachines> {
  const opened = await sandbox.open();
  return (opened.kind === 'ready' ? opened.sandbox.machines : undefined) ?? NO_MACHINES;
}

const NO_MACHINES: KnownMachines = { list: () => [], drain: () => false, problems: () => [] };
