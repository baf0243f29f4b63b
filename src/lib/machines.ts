/** Another machine that can run agents, as it is shown. */
export type MachineLook = {
  readonly name: string;
  /** `away`: nothing was heard from it lately. `draining`: it takes no new chat. */
  readonly state: 'here' | 'away' | 'draining';
  /** Its engine, such as "docker 20.10". */
  readonly description: string;
  /** Words for what it has, such as `gpu`. */
  readonly abilities: readonly string[];
  /** Containers that it takes, and those that run. */
  readonly capacity: number;
  readonly running: number;
};

/** The other machines that can run agents. */
export interface KnownMachines {
  list(): readonly MachineLook[];
  /** Lets a machine take no new chat, or again. Returns false for a name that is not known. */
  drain(name: string, isDraining: boolean): boolean;
  /** Why none of them can be used now, such as a server that does not run, as sentences for the owner. */
  problems(): readonly string[];
}

/** The owner's choice of where a chat runs. Without a machine and without needs it runs at home. */
export type ChatPlace = {
  readonly machine: string | null;
  /** Abilities that a machine must have. */
  readonly needs: readonly string[];
};

export const AT_HOME: ChatPlace = { machine: null, needs: [] };

/** The machine of each chat, as the store keeps it. */
export interface Places {
  of(folder: string): ChatPlace;
  set(folder: string, place: ChatPlace): void;
  /** Returns a number that is higher than all before for this folder, also after a backup was restored. */
  nextFence(folder: string): number;
}
