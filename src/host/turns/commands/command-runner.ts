import type { Group, Turn } from '../../../store/store.ts';
import type { Asking } from '../../asking/asking.ts';
import { createCostReport } from '../../budget/cost-report.ts';
import type { CancelledCommand, Command, Resumption } from '../../contracts/command.ts';
import { ownerCommands } from '../../contracts/match-command.ts';
import type {
  ClockPort,
  IdPort,
  SettingsPort,
  StorePort,
  TimeZonePort,
} from '../../contracts/ports.ts';
import { commandOf, titleOf } from '../../inbound-path/command-title.ts';
import type { Say } from '../../outbound/outgoing.ts';
import { answered, type TurnResult, unregistered } from '../turn-result.ts';
import type { Typing } from '../typing.ts';
import type { CommandContexts } from './command-contexts.ts';
import { resumeCommandTurn, runCommandTurn, saidIn } from './command-turn.ts';
import {
  givenByMember,
  type MembersCommandOptions,
  runMembersCommand,
} from './members-command-turn.ts';

/** Runs turns of commands, the owner's and those of members. */
export interface CommandRunner {
  run(turn: Turn): Promise<TurnResult>;
  /** Finishes a command that another process began. */
  resume(turn: Turn, resumption: Resumption): Promise<TurnResult>;
}

/** The owner's command that is under way: one at a time, beside the quick ones. */
interface RunningCommand {
  /** Runs one; the signal is aborted when the owner stops it. */
  during<T>(turn: Turn, run: (signal: AbortSignal) => Promise<T>): Promise<T>;
  cancel(): CancelledCommand | null;
}

export type CommandRunnerOptions = StorePort &
  SettingsPort &
  ClockPort &
  TimeZonePort &
  IdPort & {
    readonly commands: readonly Command[];
    readonly contexts: CommandContexts;
    readonly runningCommand: RunningCommand;
    readonly asking: Asking;
    readonly typing: Typing;
    readonly say: Say;
    /** Ends what the agent of a folder is doing; how many turns that were. */
    readonly cancelTurns: (folder: string) => number;
  };

/** Opens the runner of commands. What a turn still asks when it ends is taken back. */
export function openCommandRunner(options: CommandRunnerOptions): CommandRunner {
  const { store, contexts, runningCommand, asking, typing } = options;

  async function run(turn: Turn): Promise<TurnResult> {
    const group = store.groups.byJid(turn.jid);
    if (group === null) return unregistered();
    const said = saidIn(turn.payload);
    if (said !== null) return answered(said);
    const request = givenByMember(turn.payload);
    if (request !== null) {
      return await runMembersCommand(membersOptions(options, turn, group), request);
    }
    return await runningCommand.during(turn, (signal) =>
      runCommandTurn(contexts(turn, group, signal), turn),
    );
  }

  async function resume(turn: Turn, resumption: Resumption): Promise<TurnResult> {
    const group = store.groups.byJid(turn.jid);
    if (group === null) return unregistered();
    return await runningCommand.during(turn, (signal) =>
      resumeCommandTurn(contexts(turn, group, signal), turn, resumption),
    );
  }

  return {
    run: (turn) => typing.during(turn.jid, () => run(turn)).finally(() => asking.abandon(turn.id)),
    resume: (turn, resumption) => resume(turn, resumption).finally(() => asking.abandon(turn.id)),
  };
}

function membersOptions(
  options: CommandRunnerOptions,
  turn: Turn,
  group: Group,
): MembersCommandOptions {
  const { id: turnId, jid } = turn;
  const { store, commands, settings, timeZone, now, newId, say, asking, cancelTurns } = options;
  return {
    commands,
    group,
    assistantName: settings.assistantName,
    timeZone,
    now,
    newId,
    say: (text) => say(jid, text, { turnId }),
    askSender: (sender, question) => asking.ask(question, { turn, to: { jid, sender } }),
    costs: () => createCostReport({ store, settings, now, timeZone }, group),
    beginConversation() {
      store.sessions.reset(group.folder, newId(), now());
      store.turns.leaveBehind(group.folder);
    },
    stopAgent: () => cancelTurns(group.folder),
  };
}

/** @param all every command: the owner's say of themselves whether they can be ended */
export function openRunningCommand(all: readonly Command[]): RunningCommand {
  const commands = ownerCommands(all);
  let running: { readonly turn: Turn; readonly controller: AbortController } | null = null;
  return {
    async during(turn, run) {
      const controller = new AbortController();
      const command = commandOf(turn.payload, commands);
      if (command?.isQuick === true) return await run(controller.signal);
      const mine = { turn, controller };
      running = mine;
      try {
        return await run(controller.signal);
      } finally {
        if (running === mine) running = null;
      }
    },
    cancel() {
      if (running === null) return null;
      const { turn, controller } = running;
      const isCancelled = commandOf(turn.payload, commands)?.isCancellable === true;
      if (isCancelled) controller.abort();
      return { name: titleOf(turn.payload), isCancelled };
    },
  };
}
