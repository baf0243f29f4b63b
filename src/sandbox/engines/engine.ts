import type { SandboxEngine } from '../sandbox.ts';

/** A host path that appears inside; everything else of the host's files is invisible there. */
export type Mount = {
  readonly source: string;
  readonly target: string;
  readonly isWritable: boolean;
};

/** What one group's container is made of, whichever engine makes it. */
export type ContainerSpec = {
  readonly folder: string;
  readonly mounts: readonly Mount[];
  readonly limits: ContainerLimits;
};

export type ContainerLimits = {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly cpus: number;
};

/** A running container, or what stands for one, with the agent as its only purpose. */
export type Container = {
  readonly id: string;
  /** Resolves when the agent is gone for whatever reason, with that reason in a few words. Never rejects. */
  readonly ended: Promise<string>;
  /** Kills and removes it. May be called at any time and more than once; never rejects. */
  stop(): Promise<void>;
};

/** One way to run containers. `startContainer` rejects when the engine cannot make one. */
export interface Engine {
  readonly name: SandboxEngine;
  readonly description: string;
  startContainer(spec: ContainerSpec): Promise<Container>;
}

/** What an engine needs to know once, before its first container. */
export type EngineParts = {
  /** Marks this installation's containers, so that it can clear up its own and nobody else's. */
  readonly instanceId: string;
  readonly projectDir: string;
  readonly baseImage: string | null;
  readonly onProgress: (line: string) => void;
};

/** Why an engine cannot be used here, in words for the owner. */
export class EngineUnusable extends Error {
  override readonly name = 'EngineUnusable';
}

/** The agent's numeric user where the host is root and can give files away; see `ownership.ts`. */
export const AGENT_UID = 1000;

/** Without the first, `kill -USR1` from a command would open an inspector in the agent. */
export const AGENT_NODE_FLAGS = ['--disable-sigusr1'];

export const DEFAULT_LIMITS: ContainerLimits = {
  memoryBytes: 1024 ** 3,
  processes: 128,
  cpus: 1,
};
