import { asSchema, type ToolSet } from 'ai';
import { z } from 'zod';
import type { McpServer, Sdk } from './sdk.ts';

const List = z.looseObject({ method: z.literal('tools/list') });
const Call = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});

/** Makes a server in this process through which the SDK sees tools of the host and of the agent. */
export function createToolServer(sdk: Sdk, tools: ToolSet, signal: AbortSignal): McpServer {
  const made = sdk.createSdkMcpServer({ name: 'claw', version: '1.0.0' });
  const { server } = made.instance;
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler(List, async () => ({ tools: await listed(tools) }));
  server.setRequestHandler(Call, async ({ params }) => {
    const [text, isError] = await called(tools, params.name, {
      input: params.arguments ?? {},
      signal,
    });
    return { content: [{ type: 'text', text }], isError };
  });
  return made;
}

async function listed(tools: ToolSet): Promise<readonly object[]> {
  return await Promise.all(
    Object.entries(tools).map(async ([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema: await asSchema(inputSchema).jsonSchema,
    })),
  );
}

/** Returns the result, and whether it is an error's text. */
async function called(
  tools: ToolSet,
  name: string,
  { input, signal }: { readonly input: unknown; readonly signal: AbortSignal },
): Promise<[string, boolean]> {
  const execute = tools[name]?.execute;
  if (execute === undefined) return [`There is no tool ${name}.`, true];
  try {
    const about = { toolCallId: name, messages: [], context: {}, abortSignal: signal };
    return [String(await execute(input, about)), false];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error), true];
  }
}
