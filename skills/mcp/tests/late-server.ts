import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

// A server of the protocol's own library that is ready once a file is there.
const [file = ''] = process.argv.slice(2);
while (!existsSync(file)) await delay(10);
const server = new McpServer({ name: 'late', version: '1' });
server.registerTool('greet', { description: 'Greets.', inputSchema: {} }, () => ({
  content: [{ type: 'text' as const, text: 'Good morning.' }],
}));
await server.connect(new StdioServerTransport());
