import { oneLine } from '../../host/scheduler/one-line.ts';
import { countedTools, type ServerState } from '../../lib/mcp/server-states.ts';
import type { McpServers } from './servers.ts';

const HOW =
  'Say `/mcp`, `/mcp tools <server>`, `/mcp restart <server>`, `/mcp login <server>` or `/mcp logout <server>`.';
const MOST_SHOWN = 40;
/** The most characters shown of what a server says of a tool. */
const MOST_OF_A_TOOL = 100;

/** Answers the owner's `/mcp`, and does what it asks for. */
export async function answerOwner(servers: McpServers, argument: string): Promise<string> {
  const [word = '', name = '', address = ''] = argument.trim().split(/\s+/);
  if (word === '') return overview(servers);
  if (!['tools', 'restart', 'login', 'logout'].includes(word)) return HOW;
  const connection = servers.find(name);
  if (connection === null)
    return `There is no server ${name || 'without a name'}. ${names(servers)}`;
  if (word === 'tools') return toolList(name, connection.tools);
  if (word === 'login') return await login(servers, name, address);
  if (word === 'logout') await servers.logout(name);
  else await connection.connect();
  return line(connection.state());
}

function overview(servers: McpServers): string {
  const states = servers.states();
  if (states.length + servers.problems.length === 0) {
    return 'No tool server yet. `npx claw setup mcp` adds one, or write it into `data/mcp/mcp.json`.';
  }
  return [...states.map(line), ...servers.problems.map((problem) => `- ${problem}`)].join('\n');
}

function line({ name, state, detail, tools, groups }: ServerState): string {
  const said = {
    starting: 'starting',
    connected: 'connected',
    waiting: 'not connected',
    login: 'needs you',
    off: 'off',
  };
  const where = groups.includes('*') ? 'all groups' : groups.join(', ');
  const note = detail === null ? '' : ` (${detail})`;
  return `- **${name}**: ${said[state]}${note}, ${countedTools(tools)} for ${where}`;
}

function toolList(
  name: string,
  tools: readonly { readonly name: string; readonly description: string }[],
): string {
  if (tools.length === 0) return `${name} offers no tools now.`;
  const lines = tools.slice(0, MOST_SHOWN).map((tool) => {
    const [first = ''] = tool.description.split('\n');
    return `- \`${tool.name}\`: ${oneLine(first, MOST_OF_A_TOOL)}`;
  });
  const more = tools.length - MOST_SHOWN;
  return [...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

/** Begins a login, or ends it with the address that the browser of another machine could not open. */
async function login(servers: McpServers, name: string, address: string): Promise<string> {
  try {
    if (address !== '') {
      const query = URL.parse(address)?.searchParams;
      if (query === undefined) return 'That is not an address. Copy all of it from the browser.';
      return `${await servers.finishLogin(query)} is connected.`;
    }
    const page = await servers.login(name);
    if (page === null) return `${name} asks for no login.`;
    return `Open this page and agree: ${page}\n\nOn another machine than mine, the browser then cannot open the last page: copy its address and say \`/mcp login ${name} <address>\`.`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function names(servers: McpServers): string {
  const all = servers.states().map(({ name }) => name);
  return all.length === 0 ? 'There are none.' : `There are: ${all.join(', ')}.`;
}
