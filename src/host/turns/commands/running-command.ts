import type { Turn } from '../../../store/store.ts';
import type { CancelledCommand, Command } from '../../contracts/command.ts';
import { ownerCommands } from '../../contracts/match-command.ts';
import { commandOf, titleOf } from '../../inbound-path/command-title.ts';

/** The owner's command that is under way: one at a time, beside the quick ones. */
export interface RunningCommand {
  /** Runs one; the signal is aborted when the owner stops it. */
  during<T>(turn: Turn, run: (signal: AbortSignal) => Promise<T>): Promise<T>;
  cancel(): CancelledCommand | null;
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
