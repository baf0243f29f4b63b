import { createInterface } from 'node:readline';

// A server of the protocol, by hand: a library would not let it misbehave.
const how = process.argv[2] ?? 'well';
type RpcRequest = {
  readonly id?: number;
  readonly method: string;
  readonly params?: Record<string, unknown>;
};

const waiting = new Map<number, (result: unknown) => void>();
let cancelled: unknown = null;
let hasMore = false;
let asked = 1_000;

const line = (message: unknown) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...Object(message) })}\n`);
const text = (said: string) => ({ content: [{ type: 'text', text: said }] });

const names = [
  'echo',
  'env',
  'long',
  'list',
  'object',
  'picture',
  'slow',
  'progress',
  'cancelled',
  'ask',
  'fail',
  'wrong',
  'crash',
  'half',
  'flood',
  'change',
];

function tools(): readonly unknown[] {
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
  const usual = names.map((name) => ({ name, description: `The tool ${name}.`, inputSchema }));
  if (how === 'many') {
    return Array.from({ length: 4_000 }, (_, at) => ({ name: `tool-${at}`, inputSchema }));
  }
  if (how === 'wrong-schema')
    return [{ name: 'a', inputSchema: 'none' }, { name: 'b' }, ...usual.slice(0, 1), 7];
  if (how === 'names') {
    const all = ['get.item', 'get_item', 'get item', 'shell', '\u0007bell', 'x'.repeat(500), ''];
    return all.map((name) => ({ name, inputSchema }));
  }
  const odd = { name: `a tool/with.an odd name ${'x'.repeat(80)}`, inputSchema };
  return [...usual, odd, ...(hasMore ? [{ name: 'new', inputSchema }] : [])];
}

async function call(
  id: number,
  name: string,
  input: Record<string, unknown>,
  token: unknown,
): Promise<unknown> {
  const said = String(input['text'] ?? '');
  if (how === 'names') return text(JSON.stringify(name));
  if (!names.includes(name)) throw new Error(`Unknown tool: ${name}`);
  switch (name) {
    case 'echo':
      return text(said);
    case 'env':
      return text(
        JSON.stringify({
          key: process.env['KEY'],
          home: process.env['HOME'],
          other: process.env['SECRET'],
        }),
      );
    case 'long':
      return text('é'.repeat(100_000));
    case 'list':
      return {
        content: [],
        structuredContent: Array.from({ length: 20_000 }, (_, at) => ({ at })),
      };
    case 'object':
      return { content: [], structuredContent: { rows: 'x'.repeat(100_000) } };
    case 'picture':
      return {
        content: [
          { type: 'text', text: 'Here it is' },
          { type: 'image', data: Buffer.from('PNG').toString('base64'), mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'file:///a.txt', text: 'words' } },
          { type: 'resource_link', uri: 'https://far.example/b', name: 'b' },
          { type: 'hologram' },
        ],
      };
    case 'slow':
      return await new Promise((resolve) => waiting.set(id, resolve));
    case 'progress':
      for (const progress of [1, 2, 3])
        line({ method: 'notifications/progress', params: { progressToken: token, progress } });
      return text(`token ${typeof token}`);
    case 'cancelled':
      return text(JSON.stringify(cancelled));
    case 'ask': {
      asked += 1;
      const answer = new Promise((resolve) => waiting.set(asked, resolve));
      const properties = {
        colour: { type: 'string', enum: ['red', 'blue'] },
        size: { type: 'integer' },
        sure: { type: 'boolean' },
        name: { type: 'string' },
      };
      line({
        id: asked,
        method: 'elicitation/create',
        params: {
          message: 'Which one?\n**Say yes to /allow**',
          requestedSchema: { type: 'object', properties },
        },
      });
      return text(JSON.stringify(await answer));
    }
    case 'fail':
      return { isError: true, ...text('There is no more milk.') };
    case 'wrong':
      return { content: 'not a list' };
    case 'crash':
      process.stderr.write('out of luck\n');
      process.exit(3);
      break;
    case 'half':
      process.stdout.write('{"jsonrpc":"2.0","id":', () => process.exit(0));
      return await new Promise(() => {});
    case 'flood':
      if (input['parts'] === true) return { content: Array.from({ length: 2_500_000 }, () => 1) };
      flood();
      return await new Promise(() => {});
    case 'change':
      hasMore = true;
      names.splice(names.indexOf('fail'), 1);
      line({ method: 'notifications/tools/list_changed' });
      return text('changed');
  }
  throw new Error(`Unknown tool: ${name}`);
}

/** One line without end. */
function flood(): void {
  if (process.stdout.write('x'.repeat(1_048_576))) setImmediate(flood);
  else process.stdout.once('drain', flood);
}

async function answer({ id, method, params = {} }: RpcRequest): Promise<void> {
  if (id === undefined) {
    if (method === 'notifications/cancelled') {
      cancelled = params;
      const requestId = params['requestId'] as number;
      waiting.get(requestId)?.(text('given up'));
    }
    return;
  }
  if (method === undefined) {
    waiting.get(id)?.((params as never) ?? null);
    return;
  }
  if (method === 'initialize') {
    const { protocolVersion } = params;
    line({
      id,
      result: {
        protocolVersion,
        serverInfo: { name: 'test', version: '1' },
        capabilities: { tools: { listChanged: true } },
      },
    });
  } else if (method === 'tools/list') line({ id, result: { tools: tools() } });
  else if (method === 'tools/call') {
    const {
      name,
      arguments: input,
      _meta: meta,
    } = params as {
      name: string;
      arguments: Record<string, unknown>;
      _meta?: { progressToken?: unknown };
    };
    try {
      line({ id, result: await call(id, name, input, meta?.progressToken) });
    } catch (error) {
      line({ id, error: { code: -32602, message: (error as Error).message } });
    }
  } else line({ id, error: { code: -32601, message: 'no such method' } });
}

if (how === 'garbage')
  for (let at = 0; at < 100; at += 1) process.stdout.write(`line ${at} of a log\n`);
if (how === 'dead') process.exit(9);
if (how === 'banner') process.stdout.write('Welcome!\n');
createInterface({ input: process.stdin }).on('line', (said) => {
  const message = JSON.parse(said) as RpcRequest & { readonly result?: unknown };
  if (message.method === undefined && message.id !== undefined)
    waiting.get(message.id)?.(message.result);
  else void answer(message);
});
