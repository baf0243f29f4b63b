import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** Settings by their names, as a file's `${NAME}` reads them. */
export type Variables = Readonly<Record<string, unknown>>;

const NAME = /^[a-z][a-z0-9-]{0,23}$/;
const MAX_BYTES = 262_144;

const common = {
  /** Folders of the groups that are offered its tools; `*` for all. */
  groups: z.array(z.string().min(1)).min(1).default(['main']),
  /** The tools that are offered, by the server's own names; all by default. */
  tools: z.array(z.string()).optional(),
  disabled: z.boolean().default(false),
  /** Seconds that a call may take without a sign of progress. */
  timeout: z.number().positive().max(3_600).default(60),
};

const Texts = z.record(z.string(), z.string());

const StdioServer = z.object({
  ...common,
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: Texts.default({}),
  /** The host's folder with its files, which it may read; for programs that are no package. */
  cwd: z.string().startsWith('/', 'must be an absolute path').optional(),
  /** True lets it reach the network. */
  network: z.boolean().default(false),
});

const HttpServer = z.object({
  ...common,
  type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(),
  url: z.string().min(1),
  headers: Texts.default({}),
  /** The client that the owner has registered with the server's authorization server; one is made by default. */
  oauth: z
    .object({
      clientId: z.string(),
      clientSecret: z.string().optional(),
      scope: z.string().optional(),
      /** `client_credentials` logs in by the client alone, without a person. */
      grant: z.enum(['authorization_code', 'client_credentials']),
      /** A key in PEM in the place of the secret, and what it signs with. */
      privateKey: z.string(),
      algorithm: z.string(),
      /** The authorization server that the client is registered with: no other is shown its secret. */
      issuer: z.url(),
    })
    .partial()
    .optional(),
});

/** A server that runs in a container of this machine. */
export type StdioServer = z.output<typeof StdioServer> & {
  readonly kind: 'stdio';
  readonly name: string;
};

/** A server elsewhere, by streamable HTTP. */
export type HttpServer = z.output<typeof HttpServer> & {
  readonly kind: 'http';
  readonly name: string;
};

export type McpServer = StdioServer | HttpServer;

/** The owner's servers, and a sentence for each entry that cannot be used. */
export type McpConfig = {
  readonly servers: readonly McpServer[];
  readonly problems: readonly string[];
};

/** Returns the path of the owner's list. No agent sees it: whoever writes it can run programs. */
export function configFile(dataDir: string): string {
  return join(dataDir, 'mcp', 'mcp.json');
}

/** Reads the list of servers, in the format of other MCP clients. Without the file there are none. Never throws. */
export function readMcpConfig(dataDir: string, variables: Variables): McpConfig {
  const path = configFile(dataDir);
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return { servers: [], problems: [] };
    if (!found.isFile() || found.size > MAX_BYTES)
      throw new Error('it is not a plain file of at most 256 KB');
    return parseMcpConfig(readFileSync(path, 'utf8'), variables);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { servers: [], problems: [`${path} cannot be read: ${reason}.`] };
  }
}

/** Parses such a list. An entry that cannot be used is told of, and takes no other with it. */
export function parseMcpConfig(text: string, variables: Variables): McpConfig {
  const listed = entriesOf(text);
  if (typeof listed === 'string') return { servers: [], problems: [listed] };
  const servers: McpServer[] = [];
  const problems: string[] = [];
  for (const [name, entry] of Object.entries(listed)) {
    const server = parseServer(name, entry, variables);
    if (typeof server === 'string') problems.push(`The server ${JSON.stringify(name)} ${server}.`);
    else servers.push(server);
  }
  return { servers, problems };
}

/** Returns what the file lists, or what is wrong with it. */
export function entriesOf(text: string): Readonly<Record<string, unknown>> | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return `mcp.json is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`;
  }
  const listed = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()) }).safeParse(parsed);
  return listed.success
    ? listed.data.mcpServers
    : 'mcp.json must hold an object "mcpServers" with the servers by their names.';
}

/** Checks one entry. @returns the server, or what is wrong with it as the rest of a sentence */
export function parseServer(
  name: string,
  entry: unknown,
  variables: Variables,
): McpServer | string {
  if (!NAME.test(name)) {
    return 'needs a name of small letters, digits and hyphens, at most 24, beginning with a letter';
  }
  const isHttp = Object(entry).url !== undefined;
  if (!isHttp && Object(entry).command === undefined) return 'has neither a "command" nor a "url"';
  if (Object(entry).type === 'sse')
    return 'speaks SSE, which was replaced by streamable HTTP: ask for its newer address';
  const missing = new Set<string>();
  const expanded = expand(entry, variables, missing);
  if (missing.size > 0 && Object(entry).disabled !== true) {
    return `needs ${[...missing].join(' and ')} in .env`;
  }
  const parsed = (isHttp ? HttpServer : StdioServer).safeParse(expanded);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `has a wrong "${issue?.path.join('.')}": ${issue?.message}`;
  }
  const { data } = parsed;
  if ('url' in data) {
    if (!/^https?:$/.test(URL.parse(data.url)?.protocol ?? ''))
      return 'has a wrong "url": it must be http or https';
    if (URL.parse(data.url)?.username !== '' || URL.parse(data.url)?.password !== '')
      return 'has a name or password in its "url": put it into "headers" as Authorization';
    const wrong = Object.entries(data.headers).find(
      ([header, value]) => !isSendable(header, value),
    );
    if (wrong !== undefined)
      return 'has a header in "headers" with a line break or a sign that cannot be sent';
    return { kind: 'http', name, ...data };
  }
  return { kind: 'stdio', name, ...data };
}

/** Tells whether a header can be sent. It is refused before a request, whose error would repeat the key. */
function isSendable(header: string, value: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(header) && /^[\t\x20-\x7e]*$/.test(value);
}

/** Puts settings in the place of `${NAME}`, or `${NAME:-default}`, in all texts of a value. */
function expand(value: unknown, variables: Variables, missing: Set<string>): unknown {
  if (typeof value === 'string') {
    return value.replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
      (_, name: string, other?: string) => {
        const set = variables[name];
        if (typeof set === 'string' && set !== '') return set;
        if (other === undefined) missing.add(name);
        return other ?? '';
      },
    );
  }
  if (Array.isArray(value)) return value.map((one) => expand(one, variables, missing));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, expand(one, variables, missing)]);
  return Object.fromEntries(entries);
}
