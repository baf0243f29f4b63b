import { type CommandContext, defineCommand } from '../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'mcp',
  help: 'show the tool servers (MCP) and what they offer; `/mcp tools|restart|login|logout <server>`',
  isQuick: true,
  run: async (context, argument) => ({ kind: 'answer', text: await ask(context, argument) }),
  look: (context) => ask(context, ''),
});

/** Lets the service of the servers answer, since it holds the connections. */
async function ask(context: CommandContext, argument: string): Promise<string> {
  try {
    const answer = String(await context.callService('mcp', argument));
    const leftOut = argument.trim() === '' ? await leftOutLines(context) : [];
    return [answer, ...leftOut].join('\n');
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)} \`/status\` says more.`;
  }
}

/** Tools of servers that the models of this chat were not offered. */
async function leftOutLines({ models, group }: CommandContext): Promise<readonly string[]> {
  const leftOut = (await models.inTurn(group)).flatMap((model) => models.leftOutTools(model));
  const whyByName = new Map(leftOut.map(({ name, why }) => [name, why]));
  const lines = [...whyByName].flatMap(([name, why]) =>
    name.includes('__') ? [`- \`${name}\`: ${why}`] : [],
  );
  return lines.length === 0 ? [] : ['', 'Left out for the model of this chat:', ...lines];
}
