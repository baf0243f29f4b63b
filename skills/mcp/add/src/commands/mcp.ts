import { type CommandContext, defineCommand } from '../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'mcp',
  help: 'tool servers (MCP): what they offer; tools, restart, login, logout <server>',
  isQuick: true,
  run: async (context, argument) => ({ kind: 'answer', text: await ask(context, argument) }),
  look: (context) => ask(context, ''),
});

/** Lets the service of the servers answer, since it holds the connections. */
async function ask({ callService }: CommandContext, argument: string): Promise<string> {
  try {
    return String(await callService('mcp', argument));
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)} \`/status\` says more.`;
  }
}
