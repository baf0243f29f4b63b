import type { Turn } from '../../store/store.ts';

/** A turn that this process works on. */
export type RunningTurn = {
  readonly turn: Turn;
  /** As it was when the turn began: the chat may be taken out meanwhile. */
  readonly folder: string | undefined;
  done: Promise<void>;
  /** The owner has ended it. */
  isCancelled: boolean;
  /** It is this process's no longer: its result is dropped. */
  isLost: boolean;
};

/** The turns that this process works on: the queue puts them here, the owner's `/stop` ends them. */
export interface RunningTurns {
  add(running: RunningTurn): void;
  remove(running: RunningTurn): void;
  all(): readonly RunningTurn[];
  /** Returns the turns of agents. */
  agents(): readonly RunningTurn[];
  /** Ends a turn's agent, if it has one: the turn is over without it. */
  stopAgent(running: RunningTurn): void;
  /** Ends the agent's turns of a folder, at the owner's word; how many there were. */
  cancel(folder: string): number;
}

/** @param stopAgent ends the agent of a folder */
export function openRunningTurns(stopAgent: (folder: string) => Promise<void>): RunningTurns {
  const all = new Set<RunningTurn>();
  const agents = () => [...all].filter(({ turn }) => turn.kind === 'agent');

  function stop({ turn, folder }: RunningTurn): void {
    if (turn.kind === 'agent' && folder !== undefined) void stopAgent(folder);
  }

  return {
    add: (running) => void all.add(running),
    remove: (running) => void all.delete(running),
    all: () => [...all],
    agents,
    stopAgent: stop,
    cancel(folder) {
      const meant = agents().filter((running) => running.folder === folder);
      for (const running of meant) {
        running.isCancelled = true;
        stop(running);
      }
      return meant.length;
    },
  };
}
