import type { Readable, Writable } from 'node:stream';

/**
 * A program that is no agent and works for one, such as a server of tools: it has a container of its own and sees
 * neither the project nor any group.
 */
export type ProgramSpec = {
  /** Small letters, digits and hyphens. Two programs may have one name. */
  readonly name: string;
  /** The name under which the owner's list of shared folders gives it more to see, such as `mcp:files`. */
  readonly sharedAs: string;
  /** The program and its arguments, found on the container's PATH. `node` is there in every sandbox. */
  readonly command: readonly [string, ...string[]];
  /** All that is in its environment beside HOME and PATH. */
  readonly environment: Readonly<Record<string, string>>;
  /** The host's folder that it sees at `/opt/program` and cannot change; null for none. */
  readonly filesDir: string | null;
  /** The host's folder that is its home, `/home/node`, and is kept. It is made where it is missing. */
  readonly homeDir: string;
  /** True lets it reach the network, this machine's own services included under some engines. */
  readonly hasNetwork: boolean;
};

/** A running program. */
export type Program = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when it is gone for whatever reason, with that reason in a few words. Never rejects. */
  readonly ended: Promise<string>;
  /** Kills and removes it. May be called at any time and more than once; never rejects. */
  stop(): Promise<void>;
};

/** Starts a program. Rejects, in words for the owner, if no sandbox can run it. */
export type StartProgram = (spec: ProgramSpec) => Promise<Program>;
