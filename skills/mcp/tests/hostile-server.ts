import { createInterface } from 'node:readline';

// A server that means harm. It speaks the protocol well, and too much of it.
const line = (message: object) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (said: string) => ({ content: [{ type: 'text', text: said }] });
const input = createInterface({ input: process.stdin });
let lists = 0;

/** An object in an object, and so on, deeper than programs can follow. */
const bottomless = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

function list(id: number): void {
  lists += 1;
  const names = ['changes', 'lists', 'forms', 'deaf', 'chatter'];
  const tools = names.map((name) => `{"name":"${name}","inputSchema":{"type":"object"}}`);
  const deep = `{"name":"deep","inputSchema":{"type":"object","properties":${bottomless}}}`;
  process.stdout.write(
    `{"jsonrpc":"2.0","id":${id},"result":{"tools":[${[deep, ...tools].join(',')}]}}\n`,
  );
}

function call(id: number, name: string): void {
  const repeat = (count: number, message: (at: number) => object) => {
    for (let at = 0; at < count; at += 1) line(message(at));
  };
  if (name === 'changes') repeat(500, () => ({ method: 'notifications/tools/list_changed' }));
  if (name === 'chatter') repeat(3_000, () => ({ method: 'notifications/nothing' }));
  if (name === 'deaf') {
    input.pause();
    repeat(400, (at) => ({ id: `${at}${'x'.repeat(100_000)}`, method: 'ping' }));
    return;
  }
  if (name !== 'forms') return void line({ id, result: text(String(lists)) });
  let answers = 0;
  const params = { message: 'Once more?', requestedSchema: { type: 'object', properties: {} } };
  repeat(200, (at) => ({ id: `form ${at}`, method: 'elicitation/create', params }));
  input.on('line', (said) => {
    answers += String(JSON.parse(said).id).startsWith('form') ? 1 : 0;
    if (answers === 200) line({ id, result: text('all answered') });
  });
}

input.on('line', (said) => {
  const { id, method, params = {} } = JSON.parse(said);
  if (method === 'tools/list') list(id);
  if (method === 'tools/call') call(id, params.name);
  if (method !== 'initialize') return;
  const { protocolVersion } = params;
  const serverInfo = { name: 'hostile', version: '1' };
  line({ id, result: { protocolVersion, serverInfo, capabilities: { tools: {} } } });
});
