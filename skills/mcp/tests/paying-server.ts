import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

// A server of the protocol's own library that pays once for each idempotency key, and writes down what it paid.
const [book = ''] = process.argv.slice(2);
const server = new McpServer({ name: 'bank', version: '1' });
const rows = (): readonly string[] =>
  existsSync(book) ? readFileSync(book, 'utf8').trim().split('\n') : [];
const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });

for (const tool of ['pay', 'pay_slowly']) {
  server.registerTool(
    tool,
    { description: 'Pays.', inputSchema: { to: z.string() } },
    async (_input, { _meta: meta }) => {
      const key = meta?.['patchclaw/idempotency-key'];
      if (typeof key !== 'string') throw new Error('There is no idempotency key.');
      const isFirst = !rows().some((row) => row.startsWith(`${tool} `));
      if (rows().includes(`${tool} ${key}`)) return said('Paid before.');
      appendFileSync(book, `${tool} ${key}\n`);
      // Its caller is gone before this answers.
      if (tool === 'pay_slowly' && isFirst) await new Promise(() => {});
      return said('Paid.');
    },
  );
}
server.registerTool(
  'balance',
  { description: 'Tells.', inputSchema: {}, annotations: { readOnlyHint: true } },
  (_input, { _meta: meta }) => said(JSON.stringify(meta?.['patchclaw/idempotency-key'] ?? null)),
);
await server.connect(new StdioServerTransport());
