import { defineTools } from '../host/contracts/tool.ts';
import { serversOf } from '../services/mcp/servers.ts';

/** The tools of the owner's MCP servers, as they are when a turn begins. */
export const tool = defineTools({
  name: 'mcp',
  create:
    ({ dataDir }) =>
    () =>
      serversOf(dataDir)?.tools ?? [],
});
