import type { z } from 'zod';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
  contributionSchema,
} from '../../lib/contribution.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { ChatPlace, KnownMachines, MachineLook } from '../../lib/machines.ts';
import type { FarEngine, FarEngineParts } from '../far/far-engine.ts';

/** Another machine that can run the agents of chats. */
export type Machine = MachineLook & { readonly engine: FarEngine };

/** Machines that come and go while the assistant runs, as a skill finds them. */
export interface MachineSource {
  /** Those that are known now, with their present state. Called before each turn. */
  list(): readonly Machine[];
  drain: KnownMachines['drain'];
  /** Why none of them can be used now, as a sentence for the owner; null where they can. */
  problem?(): string | null;
  close(): Promise<void>;
}

/** The context of a source of machines, beside its own settings. */
export type MachinesContext = {
  readonly projectDir: string;
  readonly dataDir: string;
  /** Makes the engine of a machine out of a way to send messages to its worker. */
  readonly openEngine: (
    parts: Pick<
      FarEngineParts,
      'machine' | 'description' | 'openPipe' | 'patienceMs' | 'filesLimit'
    >,
  ) => FarEngine;
  /** A machine that is here has files of these chats. Those whose container is gone are fetched; may be said often. */
  readonly onFilesLeft: (machine: Machine, folders: readonly string[]) => void;
  /** Something is wrong with a machine, in sentences for the owner. */
  readonly onTrouble: (text: string) => void;
  readonly onProgress: (line: string) => void;
};

/** The export `machines` of a file in `src/sandbox/machines/`. */
export type MachinesContribution = Contribution<MachinesContext, MachineSource | null>;

/** Defines a source of other machines. Heavy modules are loaded when it is opened. */
export function defineMachines<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, MachinesContext, MachineSource | null>,
): MachinesContribution {
  return contributionOf(definition);
}

const Definition = contributionSchema<MachinesContribution>('defineMachines({ name, create })');

/** Returns the sources of this tree: of the files of this folder that export `machines`. */
export function discoverMachines(
  folder: string = import.meta.dirname,
): Promise<readonly MachinesContribution[]> {
  return discoverExports(folder, 'machines', Definition);
}

/** The present place of a chat: a machine, or home with the reason why its own machine cannot be used. */
export type Placing =
  | { readonly kind: 'machine'; readonly machine: Machine }
  | { readonly kind: 'home'; readonly reason: string | null };

/**
 * Decides where a chat runs: on the machine that the owner named, or on the least busy one that has what the chat
 * needs. If none can take it, it runs at home.
 *
 * @param present the machine where it runs already; it keeps its place there although the machine is full
 */
export function placeChat(
  wish: ChatPlace,
  machines: readonly Machine[],
  present: string | null,
): Placing {
  const { machine: named, needs } = wish;
  if (named === null && needs.length === 0) return HOME;
  const known = machines.filter(({ name }) => named === null || name === named);
  if (known.length === 0) {
    return { kind: 'home', reason: named === null ? lacking(needs) : `${named} is not known` };
  }
  const able = known.filter(({ abilities }) => needs.every((need) => abilities.includes(need)));
  if (able.length === 0) return { kind: 'home', reason: lacking(needs) };
  const open = able.filter(
    ({ name, state, running, capacity }) =>
      state === 'here' && (running < capacity || name === present),
  );
  const chosen =
    open.find(({ name }) => name === present) ??
    open.toSorted((one, other) => one.running / one.capacity - other.running / other.capacity)[0];
  if (chosen !== undefined) return { kind: 'machine', machine: chosen };
  const [first] = able;
  const why = { away: 'is away', draining: 'takes no new chat', here: 'is full' } as const;
  return { kind: 'home', reason: first === undefined ? null : `${first.name} ${why[first.state]}` };
}

const HOME: Placing = { kind: 'home', reason: null };

function lacking(needs: readonly string[]): string {
  return `no machine has ${needs.join(' and ')}`;
}
