import { z } from 'zod';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
  contributionSchema,
} from '../../lib/contribution.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { Program, ProgramSpec } from '../../lib/program.ts';
import type { AgentUser } from '../mounts/ownership.ts';
import type { Endpoint } from '../protocol/endpoint.ts';

/** A host path that appears inside; everything else of the host's files is invisible there. */
export type Mount = {
  readonly source: string;
  readonly target: string;
  readonly isWritable: boolean;
};

/** Contents of one group's container, whichever engine makes it. */
export type ContainerSpec = {
  readonly folder: string;
  readonly mounts: readonly Mount[];
  readonly limits: ContainerLimits;
  /** The way to the host; an engine whose transport is TCP passes it on by `endpointVariables`. */
  readonly endpoint: Endpoint;
  /** The owner's: what `date` says inside agrees with the prompt. Left out, it is that of the image or machine. */
  readonly timeZone?: string;
};

export type ContainerLimits = {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly cpus: number;
};

/** A running container, or an engine's equivalent, that only runs the agent. */
export type Container = {
  readonly id: string;
  /** Resolves when the agent is gone for whatever reason, with that reason in a few words. Never rejects. */
  readonly ended: Promise<string>;
  /** Kills and removes it. May be called at any time and more than once; never rejects. */
  stop(): Promise<void>;
  /**
   * On another machine: gives the agent what the home wrote, before a turn and after a call of a host tool, and takes
   * home what the agent wrote, after a turn and before such a call.
   */
  sync?(way: 'give' | 'take'): Promise<void>;
  /** On another machine: a turn is over, so what became of its files is told now, all at once. */
  endTurn?(): void;
  /** On another machine: the machine was lost, not the agent. Its turn runs again elsewhere. */
  readonly isMachineLost?: boolean;
  /** The engine itself went away, and its agent with it. Known once `ended` has resolved. */
  readonly isEngineLost?: boolean;
};

/** A container on another machine could not be started: the turn runs elsewhere. */
export class MachineLost extends Error {
  override readonly name = 'MachineLost';
}

/** Contents of a program's container, whichever engine makes it. */
export type ProgramContainerSpec = Pick<
  ProgramSpec,
  'name' | 'command' | 'environment' | 'hasNetwork'
> & {
  readonly mounts: readonly Mount[];
  readonly limits: ContainerLimits;
};

/**
 * The way of an agent's frames and model calls to the host: a mounted Unix socket, or TCP with a token if files of
 * the host cannot be mounted or a socket does not pass.
 */
export type Transport =
  | { readonly kind: 'socket' }
  /** The host listens at the address `listen`, and the container reaches it by the name `host`. */
  | { readonly kind: 'tcp'; readonly listen: string; readonly host: string };

/** One way to run containers. `startContainer` rejects when the engine cannot make one. */
export interface Engine {
  readonly name: string;
  /** The name of the other machine that it runs containers on; left out for this one. */
  readonly machine?: string;
  readonly description: string;
  /** A socket by default. */
  readonly transport?: Transport;
  startContainer(spec: ContainerSpec): Promise<Container>;
  /** Starts a program that is no agent; left out where the engine runs agents alone. */
  startProgram?(spec: ProgramContainerSpec): Promise<Program>;
}

/** Remembers builds of the agent's image that failed: each takes a minute, and another start changes nothing. */
export type BuildMemory = {
  /** Returns why an image is not to be tried again yet, and what has it tried; null where it may be tried. */
  failureOf(image: string): string | null;
  /** Notes how a build went; a problem of null is none. */
  note(image: string, problem: string | null): void;
};

/** Services that an engine works with, beside its own settings. */
export type EngineContext = {
  readonly projectDir: string;
  /** Absolute path of the data folder, which also tells this installation from others. */
  readonly dataDir: string;
  /** The user that the agent is outside of its container. */
  readonly user: AgentUser;
  /** The number of this process's user; null where the system has none. */
  readonly uid: number | null;
  readonly homeDir: string;
  /** The host's own Node. */
  readonly nodePath: string;
  /** Base of the agent's image, for an engine with images; null for the usual one. */
  readonly baseImage: string | null;
  /** Left out, each start tries a build. */
  readonly builds?: BuildMemory | undefined;
  readonly onProgress: (line: string) => void;
};

/** The agent's image; its name is known only where its base is. */
export type ImageLook = {
  readonly name: string | null;
  readonly isThere: boolean;
  readonly base: string | null;
  /** The base that a start would fetch. */
  readonly wantedBase: string;
};

/** The state of an engine that could run agents. */
export type EngineLook = {
  readonly description: string;
  /** Null for an engine that needs none. */
  readonly image: ImageLook | null;
  /** Ids of this installation's containers. */
  readonly containers: readonly string[];
  /** The folder of its images, on this machine or the one that it runs on; null where it has none. */
  readonly rootDir: string | null;
};

/** Finds an engine. Both methods reject with an `EngineUnusable` if it is not here, or does not work. */
export type EngineFinder = {
  /** Opens it, and makes what it needs, such as an image. */
  open(): Promise<Engine>;
  /** Looks as `open` would, and makes nothing. */
  look(): Promise<EngineLook>;
};

type EngineFacts = {
  /** Engines are tried in this order, the best first. */
  readonly order: number;
  /**
   * The unit that its limits hold for: a whole container, or only each process. Agents move from the first
   * kind to the second only with the owner's consent.
   */
  readonly limits: 'container' | 'process';
  /** The way to install and start it, as part of a sentence. */
  readonly install: string;
};

/** The export `engine` of a file in `src/sandbox/engines/`. */
export type EngineContribution = Contribution<EngineContext, EngineFinder> & EngineFacts;

/** Defines a sandbox engine. CLAW_SANDBOX takes its name. Heavy modules are loaded when it is opened. */
export function defineEngine<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, EngineContext, EngineFinder> & EngineFacts,
): EngineContribution {
  const { order, limits, install } = definition;
  return { ...contributionOf(definition), order, limits, install };
}

const Definition = contributionSchema<EngineContribution>(
  'defineEngine({ name, order, limits, install, create })',
);

/** Returns the engines of this tree, best first: of the files of this folder that export an `engine`. */
export async function discoverEngines(
  folder: string = import.meta.dirname,
): Promise<readonly EngineContribution[]> {
  const found = await discoverExports(folder, 'engine', Definition);
  return found.toSorted(
    (one, other) => one.order - other.order || (one.name < other.name ? -1 : 1),
  );
}

/** Creates the schema of CLAW_SANDBOX, which takes the names of these engines. */
export function engineSetting(engines: readonly EngineContribution[]) {
  const names = engines.map(({ name }) => name);
  const list = [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' or ');
  return z.object({
    CLAW_SANDBOX: z
      .string()
      .refine((name) => names.includes(name), {
        error: ({ input }) => `must be ${list}, not ${JSON.stringify(String(input).slice(0, 40))}`,
      })
      .optional(),
  });
}

/**
 * Tells whether agents would lose limits by a change to an engine. One that is not here any more counts
 * as a strong one, so that the owner is asked.
 *
 * @param least the weakest engine that they may get unasked; null for any
 */
export function isWeaker(
  engines: readonly Pick<EngineContribution, 'name' | 'limits'>[],
  name: string,
  least: string | null,
): boolean {
  const limitsOf = (wanted: string) =>
    engines.find((engine) => engine.name === wanted)?.limits ?? 'container';
  return least !== null && limitsOf(name) === 'process' && limitsOf(least) === 'container';
}

/** Why an engine cannot be used here, in words for the owner. */
export class EngineUnusable extends Error {
  override readonly name = 'EngineUnusable';
}

/** Without the first, `kill -USR1` from a command would open an inspector in the agent. */
export const AGENT_NODE_FLAGS = ['--disable-sigusr1'];

export const DEFAULT_LIMITS: ContainerLimits = {
  memoryBytes: 1024 ** 3,
  processes: 128,
  cpus: 1,
};
