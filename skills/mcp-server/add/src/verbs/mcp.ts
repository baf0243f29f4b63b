import { readAddress, readToken } from '../http/files.ts';
import { defineVerb, VerbError } from '../verb.ts';
import { bridge } from './mcp/bridge.ts';

/** Speaks MCP on its standard streams: what a client says goes to the running assistant, and its answers back. */
export const verb = defineVerb({
  name: 'mcp',
  help: 'for MCP clients: the assistant’s history, memory, tasks and chats, over stdin and stdout',
  create:
    ({ dataDir }) =>
    async ({ isJson, isAssistantRunning, stdin, stdout, signal, progress }) => {
      if (isJson)
        throw new VerbError('usage', '`npx claw mcp` speaks MCP on stdout, so it takes no --json.');
      if (!(await isAssistantRunning())) {
        throw new VerbError(
          'stopped',
          'The assistant does not run. Start it with `npx claw start`, then connect again.',
        );
      }
      await bridge({
        stdin,
        stdout,
        signal,
        tell: progress,
        // Read anew at each connection: after a restart the port may be another.
        far() {
          const address = readAddress(dataDir);
          return address === null
            ? null
            : { url: `${address}/mcp-server/mcp`, token: readToken(dataDir) };
        },
      });
      return { data: null };
    },
});
