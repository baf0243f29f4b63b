import { z } from 'zod';
import { defineService } from '../host/contracts/service.ts';
import { NameList } from '../lib/setting-values.ts';
import { createAssistantServer } from './mcp-server/assistant-server.ts';
import { openSessions } from './mcp-server/sessions.ts';

/** Lets programs on this machine use the assistant by MCP, with the token of its pages. */
export const service = defineService({
  name: 'mcp-server',
  settings: z.object({ MCP_SERVER_TOOLS: NameList }),
  async start({ settings: { MCP_SERVER_TOOLS: moreTools }, ...context }) {
    const { route, newId, assistantName, store, tools, ask, readGroupFile, setTimer, log } =
      context;
    const { groupsDir } = context;
    const ways = { store, tools, ask, readGroupFile, setTimer, log };
    const parts = { assistantName, ...ways, groupsDir, moreTools };
    const sessions = openSessions({ createServer: () => createAssistantServer(parts), newId });
    let address = '';
    for (const method of ['POST', 'GET', 'DELETE'] as const) {
      const { url } = await route({ method, path: '/mcp', handle: sessions.handle });
      address = url;
    }
    return {
      stop: sessions.close,
      status: () =>
        `answers at ${address}, ${sessions.count() === 1 ? '1 client' : `${sessions.count()} clients`}`,
    };
  },
});
