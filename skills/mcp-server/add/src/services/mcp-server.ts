import { defineService } from '../host/contracts/service.ts';
import { createAssistantServer } from './mcp-server/assistant-server.ts';
import { openSessions } from './mcp-server/sessions.ts';

/** Lets programs on this machine use the assistant by MCP, with the token of its pages. */
export const service = defineService({
  name: 'mcp-server',
  async start(context) {
    const { route, newId, assistantName, store, tools, ask, readGroupFile, setTimer, log } =
      context;
    const parts = { assistantName, store, tools, ask, readGroupFile, setTimer, log };
    const sessions = openSessions({ createServer: () => createAssistantServer(parts), newId });
    let address = '';
    for (const method of ['POST', 'GET', 'DELETE'] as const) {
      const { url } = await route({ method, path: '/mcp', handle: sessions.handle });
      address = url;
    }
    return {
      stop: sessions.close,
      status: () => `answers at ${address}, ${sessions.count()} clients`,
    };
  },
});
