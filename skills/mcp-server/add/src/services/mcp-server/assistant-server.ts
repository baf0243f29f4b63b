import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { ServiceContext } from '../../host/contracts/service.ts';
import { callTool, listTools } from './offered-tools.ts';
import { listResources, readResource, TEMPLATES } from './resources.ts';

/** Services of the host that a client is given a part of. */
export type ServerParts = Pick<
  ServiceContext,
  'assistantName' | 'store' | 'tools' | 'ask' | 'readGroupFile' | 'setTimer' | 'log'
>;

const RESOURCE_NOT_FOUND = -32_002;

/** Creates the server that one client talks to: history, memory, tasks and chats of this assistant. */
export function createAssistantServer(parts: ServerParts): Server {
  const { assistantName } = parts;
  const server = new Server(
    { name: 'patchclaw', title: assistantName, version: '1.0.0' },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: `${assistantName} is the owner's personal assistant. Its chats are known by their folders; main is the owner's own. What changes something is put to the owner first, in their chat.`,
    },
  );
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
      return await callTool(parts, { name, input, signal, onWait });
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
  return server;
}
