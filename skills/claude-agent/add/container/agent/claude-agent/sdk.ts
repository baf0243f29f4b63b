import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

const MODULE = '@anthropic-ai/claude-agent-sdk/sdk.mjs';

/** Folders of packages: the image's, those of a system without an image, and what all agents share. */
const FOLDERS = [
  join(dirname(process.execPath), '../lib/node_modules'),
  '/usr/local/lib/node_modules',
  '/usr/lib/node_modules',
  '/workspace/shared/claude-agent/node_modules',
];

/** A message of a person, as the SDK takes it. */
export type SdkInput = {
  readonly type: 'user';
  readonly uuid?: string;
  readonly message: { readonly role: 'user'; readonly content: unknown };
  readonly parent_tool_use_id: null;
  /** Taken as it is: `/word` is not a command of the SDK's, and `@path` brings no file in. */
  readonly client_composed: true;
  readonly priority?: 'next';
};

export type HookOutput = Readonly<Record<string, unknown>>;
export type Hook = (input: unknown) => Promise<HookOutput>;

/** The options of the SDK that are used here; all of them are in its own `sdk.d.ts`. */
export type SdkOptions = {
  readonly abortController: AbortController;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly model: string;
  readonly systemPrompt: string;
  readonly tools: readonly string[];
  readonly mcpServers: Readonly<Record<string, McpServer>>;
  readonly strictMcpConfig: true;
  readonly settingSources: readonly [];
  readonly thinking: { readonly type: 'disabled' };
  readonly maxTurns: number;
  readonly includePartialMessages: true;
  readonly hooks: Readonly<
    Record<string, readonly { readonly timeout: number; readonly hooks: readonly Hook[] }[]>
  >;
  readonly resume?: string;
  readonly sessionId?: string;
  readonly sessionStore: {
    readonly load: () => Promise<readonly unknown[]>;
    readonly append: () => Promise<void>;
  };
  readonly extraArgs: Readonly<Record<string, string | null>>;
  readonly stderr: (text: string) => void;
};

/** A server of tools in this process. */
export type McpServer = {
  readonly instance: {
    readonly server: {
      registerCapabilities(capabilities: { readonly tools: object }): void;
      setRequestHandler<T>(schema: z.ZodType<T>, handle: (request: T) => Promise<object>): void;
    };
  };
};

export type Sdk = {
  query(asked: {
    readonly prompt: AsyncIterable<SdkInput>;
    readonly options: SdkOptions;
  }): AsyncIterable<unknown>;
  createSdkMcpServer(about: { readonly name: string; readonly version: string }): McpServer;
};

const Module = z.custom<Sdk>(
  (value) =>
    z.looseObject({ query: z.function(), createSdkMcpServer: z.function() }).safeParse(value)
      .success,
  'The Agent SDK in this container is not one that is known here.',
);

/** Loads the Agent SDK of this container; null where it has none. */
export async function loadSdk(folders: readonly string[] = FOLDERS): Promise<Sdk | null> {
  const path = folders.map((folder) => join(folder, MODULE)).find((file) => existsSync(file));
  return path === undefined ? null : Module.parse(await import(pathToFileURL(path).href));
}
