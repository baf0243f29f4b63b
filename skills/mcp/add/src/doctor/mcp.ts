import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type McpServer, readMcpConfig } from '../lib/mcp/config.ts';
import { launchOf } from '../lib/mcp/packages.ts';
import { probe } from '../lib/mcp/probe.ts';
import { countedTools, readStates } from '../lib/mcp/server-states.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import { type Examination, type Finding, ok, problem, type Subject } from './examination.ts';

const AREA = 'mcp';
const PROBE_MS = 10_000;

/** The owner's MCP servers: the list, their files, whether they answer, and how the running assistant finds them. */
export const examination: Examination = {
  area: AREA,
  order: 46,
  async examine(subject) {
    const { servers, problems } = readMcpConfig(subject.dataDir, subject.environment);
    const wrong = problems.map((one) => problem(AREA, one, 'Mend the list, `data/mcp/mcp.json`.'));
    const on = servers.filter(({ disabled }) => !disabled);
    if (on.length + wrong.length === 0)
      return [ok(AREA, 'no server yet', '`npx claw setup mcp` adds one.')];
    return [...wrong, ...(await Promise.all(on.map((server) => look(server, subject))))];
  },
};

async function look(server: McpServer, { dataDir, isOffline }: Subject): Promise<Finding> {
  const { name } = server;
  const state = isRunning(dataDir)
    ? readStates(dataDir)?.servers.find((one) => one.name === name)
    : undefined;
  if (state?.state === 'connected')
    return ok(AREA, `${name} is connected, with ${countedTools(state.tools)}`, state.detail);
  if (server.kind === 'stdio') {
    try {
      launchOf(server, dataDir);
    } catch (error) {
      return problem(AREA, `${name}: ${(error as Error).message}`, 'Do that, then look again.');
    }
    if (state === undefined) return ok(AREA, `${name} has its files; it starts with the assistant`);
    return problem(
      AREA,
      `${name} is ${state.state}${state.detail === null ? '' : `: ${state.detail}`}`,
      '`npx claw logs` has the rest.',
    );
  }
  if (isOffline) return ok(AREA, `${name} is at ${server.url}, which was not asked`);
  const found = await probe(server, PROBE_MS);
  if (found.kind === 'failed')
    return problem(AREA, `${name} cannot be reached (${found.reason})`, 'Look at its address.');
  const hasLogin = existsSync(join(dataDir, 'mcp', 'oauth', `${name}.json`));
  if (found.kind === 'login' && !hasLogin)
    return problem(AREA, `${name} wants you to log in`, `Say \`/mcp login ${name}\` in the chat.`);
  return ok(AREA, `${name} answers`);
}
