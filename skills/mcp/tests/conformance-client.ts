import { openServers } from './fixtures.ts';

// The client that `@modelcontextprotocol/conformance client` runs, a scenario each: it connects by our own code, logs
// in as a browser would, and calls each tool that it is offered.
const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}');
const oauth =
  context.client_id === undefined
    ? {}
    : {
        oauth: {
          clientId: context.client_id,
          clientSecret: context.client_secret,
          ...(scenario.includes('client-credentials') ? { grant: 'client_credentials' } : {}),
          privateKey: context.private_key_pem,
          algorithm: context.signing_algorithm,
        },
      };
const server = { url, groups: ['*'], timeout: 10, ...oauth };
const opened = await openServers(
  { far: server },
  { redirectUrl: async () => 'http://127.0.0.1:3999/callback' },
);
const { servers, timers } = opened;

let logins = 0;
let waits = 0;

/** Waits until the server is connected, logging in where it wants that. */
async function connected(): Promise<void> {
  for (let round = 0; round < 400; round += 1) {
    const state = servers.find('far')?.state();
    if (state?.state === 'connected') return;
    if (state?.state === 'login') await login();
    if (state?.state === 'waiting') {
      waits += 1;
      if (waits > 3) throw new Error(`not connected: ${state.detail}`);
      timers.pass();
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`not connected: ${JSON.stringify(servers.states())}`);
}

async function login(): Promise<void> {
  logins += 1;
  // A person would not go on for ever either: each login is one of theirs.
  if (logins > 3) throw new Error('logged in three times, and still refused');
  const page = servers.find('far')?.loginPage;
  if (page === null || page === undefined) throw new Error('no page');
  const answer = await fetch(page, { redirect: 'manual' });
  const location = answer.headers.get('location') ?? '';
  await servers.finishLogin(new URL(location).searchParams);
}

await connected();
for (const tool of servers.tools) {
  const properties = Object.keys(Object(tool.inputSchema?.['properties']));
  const input = Object.fromEntries(properties.map((name, index) => [name, index + 2]));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const ask = async () => ({ word: 'yes', isAnswered: true, text: 'said' });
    const result = await opened.call(tool.name, input, { ask }).catch((error: Error) => error);
    console.log(scenario, tool.name, result);
    if (!(result instanceof Error)) break;
    if (servers.find('far')?.state().state !== 'login') break;
    await connected();
  }
}
await opened[Symbol.asyncDispose]();
