import { mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineService } from '../host/contracts/service.ts';
import { readMcpConfig } from '../lib/mcp/config.ts';
import { countedTools } from '../lib/mcp/server-states.ts';
import { callbackPage } from './mcp/callback-page.ts';
import { answerOwner } from './mcp/owner-answers.ts';
import { McpServers } from './mcp/servers.ts';

const SETTLED_MS = 300;

/** Keeps the connections to the owner's MCP servers, and offers their tools to agents. */
export const service = defineService({
  name: 'mcp',
  // The owner's list names settings as `${NAME}`: which, is not known before it is read.
  settings: z.looseObject({}),
  async start(context) {
    const { dataDir, assistantName, log, now, setTimer, startProgram, signal, settings } = context;
    mkdirSync(join(dataDir, 'mcp'), { recursive: true, mode: 0o700 });
    let address: Promise<{ readonly url: string }> | null = null;
    const servers = new McpServers({
      dataDir,
      assistantName,
      log,
      now,
      setTimer,
      startProgram,
      readConfig: () => readMcpConfig(dataDir, settings),
      async redirectUrl() {
        address ??= context.route({
          method: 'GET',
          path: '/callback',
          access: 'landing',
          handle: ({ query }) => callbackPage(() => servers.finishLogin(query)),
        });
        return (await address).url;
      },
    });
    let cancel = (): void => {};
    const watcher = watch(join(dataDir, 'mcp'), (_event, file) => {
      if (file !== 'mcp.json' || signal.aborted) return;
      cancel();
      // An editor writes in several steps.
      cancel = setTimer(SETTLED_MS, () => servers.reload());
    });
    // Without it the list is read at the next start.
    watcher.on('error', (error) =>
      log.warn('the list of MCP servers is not watched', { error: String(error) }),
    );
    await servers.reload();
    return {
      async stop() {
        watcher.close();
        await servers.stop();
      },
      tools: () => servers.tools,
      toolsReady: (folder, signal) => servers.ready(folder, signal),
      onCall: (request) => answerOwner(servers, z.string().max(4_000).parse(request)),
      status() {
        const states = servers.states();
        if (states.length === 0) return servers.problems[0] ?? null;
        const connected = states.filter(({ state }) => state === 'connected').length;
        return `${connected} of ${states.length} servers connected, ${countedTools(servers.tools.length)}`;
      },
    };
  },
});
