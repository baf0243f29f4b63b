import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  type LoggingLevel,
  LoggingLevelSchema,
  McpError,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { callTool, listTools } from './offered-tools.ts';
import { chatsFrom, completePrompt, getPrompt, listPrompts } from './prompts.ts';
import { listResources, readResource, TEMPLATES } from './resources.ts';
import type { ServerParts } from './server-parts.ts';
import { openSubscriptions } from './subscriptions.ts';

const RESOURCE_NOT_FOUND = -32_002;
/** The most that the protocol lets one answer propose. */
const MOST_PROPOSED = 100;

/** Creates the server that one client talks to: history, memory, tasks and chats of this assistant. */
export function createAssistantServer(parts: ServerParts): Server {
  const { assistantName } = parts;
  const server = new Server(
    { name: 'patchclaw', title: assistantName, version: '1.0.0' },
    {
      capabilities: {
        tools: {},
        resources: { subscribe: true },
        prompts: {},
        completions: {},
        logging: {},
      },
      instructions: `${assistantName} is the owner's personal assistant. Its chats are known by their folders; main is the owner's own. What changes something is put to the owner first, in their chat.`,
    },
  );
  let least: LoggingLevel = 'info';
  server.setRequestHandler(SetLevelRequestSchema, ({ params: { level } }) => {
    least = level;
    return {};
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listTools(parts) }));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, { signal, sendNotification }) => {
      const { name, arguments: input = {}, _meta: meta } = params;
      const token = meta?.progressToken;
      const onWait = (progress: number): void => {
        if (token === undefined) return;
        const notice = { progressToken: token, progress, message: 'The owner is asked.' };
        sendNotification({ method: 'notifications/progress', params: notice }).catch(() => {
          // A client that is gone waits for nothing.
        });
      };
      const onStep = (level: LoggingLevel, data: string): void => {
        if (rankOf(level) < rankOf(least)) return;
        const notice = { level, logger: name, data };
        sendNotification({ method: 'notifications/message', params: notice }).catch(() => {
          // As above.
        });
      };
      return await callTool(parts, { name, input, signal, onWait, onStep });
    },
  );
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: listResources(parts) }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [...TEMPLATES],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }, { signal }) => {
    const content = await readResource(parts, uri, signal);
    if (content === null) throw new McpError(RESOURCE_NOT_FOUND, `There is no resource ${uri}.`);
    return { contents: [{ uri, ...content }] };
  });
  addSubscriptions(server, parts);
  addPrompts(server, parts);
  return server;
}

function addSubscriptions(server: Server, parts: ServerParts): void {
  const subscriptions = openSubscriptions(parts, (uri) => {
    server.sendResourceUpdated({ uri }).catch(() => {
      // A client that is gone reads nothing again.
    });
  });
  server.onclose = subscriptions.close;
  server.setRequestHandler(SubscribeRequestSchema, async ({ params: { uri } }) => {
    await subscriptions.add(uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    subscriptions.remove(uri);
    return {};
  });
}

function addPrompts(server: Server, parts: ServerParts): void {
  server.setRequestHandler(ListPromptsRequestSchema, async () => ({
    prompts: await listPrompts(parts),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }, { signal }) =>
    getPrompt(parts, params.name, params.arguments ?? {}, signal),
  );
  server.setRequestHandler(CompleteRequestSchema, async ({ params: { ref, argument } }) => {
    const all =
      ref.type === 'ref/prompt'
        ? await completePrompt(parts, ref.name, argument)
        : chatsOfTemplate(parts, ref.uri, argument);
    const values = all.slice(0, MOST_PROPOSED);
    return { completion: { values, total: all.length, hasMore: all.length > values.length } };
  });
}

function chatsOfTemplate(
  parts: ServerParts,
  uri: string,
  argument: { readonly name: string; readonly value: string },
): readonly string[] {
  const isKnown = TEMPLATES.some(({ uriTemplate }) => uriTemplate === uri);
  if (!isKnown) throw new McpError(ErrorCode.InvalidParams, `There is no template ${uri}.`);
  return argument.name === 'chat' ? chatsFrom(parts, argument.value) : [];
}

/** Returns the place of a level among all, `debug` first. */
function rankOf(level: LoggingLevel): number {
  return LoggingLevelSchema.options.indexOf(level);
}
