import { createHash } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';

/** More of one server cost more than they help: each description is part of every call of the model. */
export const MAX_TOOLS = 128;
const MAX_PAGES = 100;
/** No page is asked for after that; the tools of those before are offered. */
const MAX_LIST_MS = 60_000;
const MAX_SCHEMA_BYTES = 32_768;
const MAX_DESCRIPTION = 2_000;

const RemoteTool = z.looseObject({
  name: z.string().min(1).max(256),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  annotations: z
    .looseObject({ readOnlyHint: z.boolean().optional(), idempotentHint: z.boolean().optional() })
    .optional()
    .catch(undefined),
});

const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** A tool of a server, by the server's own name. */
export type RemoteTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Harmless where the server says that it only reads, or that a second call changes nothing more. */
  readonly repeat: 'harmless' | 'once';
};

/** The tools of a server that agents are offered, and a sentence about those that they are not. */
export type RemoteTools = {
  readonly tools: readonly RemoteTool[];
  readonly leftOut: string | null;
};

type ListOptions = { readonly timeout: number; readonly now: () => number };

/** Asks a server for its tools. Of those that are too many or cannot be used, none takes another with it. */
export async function listRemoteTools(
  client: Client,
  wanted: readonly string[] | undefined,
  { now, ...options }: ListOptions,
): Promise<RemoteTools> {
  const endsAt = now() + MAX_LIST_MS;
  const tools = new Map<string, RemoteTool>();
  let [wrong, more] = [0, 0];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const listed = await client.request({ method: 'tools/list', params }, Page, options);
    for (const one of listed.tools) {
      const tool = usable(one);
      if (tool === null) wrong += 1;
      else if (wanted !== undefined && !wanted.includes(tool.name)) continue;
      else if (tools.size >= MAX_TOOLS) more += 1;
      else tools.set(tool.name, tool);
    }
    cursor = listed.nextCursor;
    if (cursor === undefined || tools.size >= MAX_TOOLS || now() > endsAt) break;
  }
  const notes = [
    ...(wrong === 0
      ? []
      : [`${wrong} tools have a name, a description or a schema that cannot be used`]),
    ...(more === 0 && (cursor === undefined || tools.size < MAX_TOOLS)
      ? []
      : [
          `it has more than ${MAX_TOOLS} tools; name those that you want under "tools" in mcp.json`,
        ]),
    ...(cursor === undefined || tools.size >= MAX_TOOLS
      ? []
      : ['its list of tools goes on and on, and was read in part']),
  ];
  return { tools: [...tools.values()], leftOut: notes.length === 0 ? null : notes.join('; ') };
}

function usable(one: unknown): RemoteTool | null {
  const { data } = RemoteTool.safeParse(one);
  if (data === undefined) return null;
  const { name, description = '', inputSchema, annotations } = data;
  if (!isShort(inputSchema)) return null;
  const isHarmless = annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
  const repeat = isHarmless ? 'harmless' : 'once';
  return { name, description: description.slice(0, MAX_DESCRIPTION), inputSchema, repeat };
}

function isShort(schema: unknown): boolean {
  try {
    return JSON.stringify(schema).length <= MAX_SCHEMA_BYTES;
  } catch {
    return false; // It is nested deeper than anything reads.
  }
}

const MAX_NAME = 63;

/** Returns tools of a server by the names under which agents are offered them, whatever their order. */
export function offeredTools(
  server: string,
  tools: readonly RemoteTool[],
): ReadonlyMap<string, RemoteTool> {
  const cleaned = Map.groupBy(tools, ({ name }) => offeredName(server, name));
  return new Map(
    tools.map((tool) => {
      const name = offeredName(server, tool.name);
      const isOwn = name === `${server}__${tool.name}` || cleaned.get(name)?.length === 1;
      return [isOwn ? name : offeredName(server, tool.name, true), tool];
    }),
  );
}

/**
 * Returns the name under which agents are offered a tool: `server__tool`, in letters that every model takes.
 *
 * @param isMarked tells the tool from another whose name has other signs in the same places
 */
export function offeredName(server: string, tool: string, isMarked = false): string {
  const name = `${server}__${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  if (name.length <= MAX_NAME && !isMarked) return name;
  const digest = createHash('sha256').update(tool).digest('hex').slice(0, 8);
  return `${name.slice(0, MAX_NAME - 9)}_${digest}`;
}
