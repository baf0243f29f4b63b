import { runsBeside, type Turn } from '../../store/store.ts';

/** A turn that this process works on. */
export type RunningTurn = {
  readonly turn: Turn;
  /** As it was when the turn began: the chat may be taken out meanwhile. */
  readonly folder: string | undefined;
  done: Promise<void>;
  /** The owner has ended it. */
  isCancelled: boolean;
  /** The chat where that was said, which is answered there. */
  cancelledIn?: string;
  /** It is this process's no longer: its result is dropped. */
  isLost: boolean;
  /** Aborted when the owner has ended it or it is lost: what it waits for before its agent begins is waited for no more. */
  readonly stop: AbortController;
};

/** Takes a turn from this process: its result is dropped. */
export function lose(running: RunningTurn): void {
  running.isLost = true;
  running.stop.abort();
}

/** The turns that this process works on: the queue puts them here, the owner's `/stop` ends them. */
export interface RunningTurns {
  add(running: RunningTurn): void;
  remove(running: RunningTurn): void;
  all(): readonly RunningTurn[];
  /** Returns the turns of agents. */
  agents(): readonly RunningTurn[];
  /** Returns those of agents that run beside the turns of their chat. */
  beside(): readonly RunningTurn[];
  /** Ends a turn's agent, if it has one: the turn is over without it. */
  stopAgent(running: RunningTurn): void;
  /**
   * Ends the agent's turns of a folder, at the owner's word, but for those beside; how many there were.
   *
   * @param saidIn the chat of the command, whose answer is enough there
   */
  cancel(folder: string, saidIn?: string): number;
  /** Ends one agent's turn. */
  cancelTurn(id: string): void;
  /** Returns what is aborted once a turn is ended or gone: it is for one that has no agent yet, which cannot be stopped. */
  endOf(id: string): AbortSignal;
}

/** @param stopAgent ends the agent of a folder that works on this turn */
export function openRunningTurns(
  stopAgent: (folder: string, turn: string) => Promise<void>,
): RunningTurns {
  const all = new Set<RunningTurn>();
  const agents = () => [...all].filter(({ turn }) => turn.kind === 'agent');

  function stop({ turn, folder }: RunningTurn): void {
    if (turn.kind === 'agent' && folder !== undefined) void stopAgent(folder, turn.id);
  }

  function cancel(meant: readonly RunningTurn[]): void {
    for (const running of meant) {
      running.isCancelled = true;
      running.stop.abort();
      stop(running);
    }
  }

  return {
    add: (running) => void all.add(running),
    remove: (running) => void all.delete(running),
    all: () => [...all],
    agents,
    beside: () => agents().filter(({ turn }) => runsBeside(turn)),
    stopAgent: stop,
    cancel(folder, saidIn) {
      const meant = agents().filter(({ turn, ...it }) => it.folder === folder && !runsBeside(turn));
      if (saidIn !== undefined) for (const one of meant) one.cancelledIn = saidIn;
      cancel(meant);
      return meant.length;
    },
    cancelTurn: (id) => cancel(agents().filter(({ turn }) => turn.id === id)),
    endOf: (id) => agents().find(({ turn }) => turn.id === id)?.stop.signal ?? AbortSignal.abort(),
  };
}
