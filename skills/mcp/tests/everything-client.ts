import { openServers } from './fixtures.ts';

// Connects to `@modelcontextprotocol/server-everything` by our own code, and prints what agents would get of it. It is
// given an address, or the path of the server's script.
const [, , place = ''] = process.argv;
const server = place.startsWith('http')
  ? { url: place }
  : { command: 'node', args: [place, 'stdio'] };
const opened = await openServers({ far: { ...server, groups: ['*'], timeout: 20 } });
for (
  let round = 0;
  round < 2_000 && opened.servers.states()[0]?.state !== 'connected';
  round += 1
) {
  await new Promise((resolve) => setTimeout(resolve, 10));
}
const ask = async () => ({ word: 'no', isAnswered: true });
const calls: readonly (readonly [string, object])[] = [
  ['far__echo', { message: 'hello' }],
  ['far__get-sum', { a: 2, b: 3 }],
  ['far__get-tiny-image', {}],
  ['far__get-structured-content', { location: 'New York' }],
  ['far__trigger-long-running-operation', { duration: 0.2, steps: 4 }],
  ['far__get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
  ['far__trigger-elicitation-request', {}],
  ['far__get-sum', { a: 'two' }],
];
const results: Record<string, string> = {};
for (const [index, [name, input]] of calls.entries()) {
  const result = await opened
    .call(name, input, { ask })
    .catch((error: Error) => `error: ${error.message}`);
  results[`${index} ${name}`] = typeof result === 'string' ? result : JSON.stringify(result);
}
console.log(JSON.stringify({ tools: opened.servers.tools.map(({ name }) => name), results }));
await opened[Symbol.asyncDispose]();
