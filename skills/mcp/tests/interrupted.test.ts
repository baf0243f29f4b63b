import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testInterruptions } from '../../../src/testing/turn/interrupted-turns.ts';
import { openServers } from './fixtures.ts';
import { paymentsIn } from './paying-scene.ts';

const paid = (tool: string) => (project: { readonly dir: string }) =>
  paymentsIn(project.dir).filter((row) => row.startsWith(`${tool} `)).length;

// The server itself pays once for each key: the call whose answer was lost is made again under its own.
await testInterruptions(
  [
    { name: 'bank__pay', input: { to: 'Eve' }, result: 'Paid.', timesDone: paid('pay') },
    { name: 'bank__pay_slowly', input: { to: 'Bob' }, result: null, timesDone: paid('pay_slowly') },
  ],
  join(import.meta.dirname, 'paying-scene.ts'),
);

test('a call of a tool that only reads has no idempotency key', async () => {
  const args = [join(import.meta.dirname, 'paying-server.ts'), '/dev/null'];
  await using opened = await openServers({ bank: { command: 'node', args } });
  await expect.poll(() => opened.servers.states()).toMatchObject([{ state: 'connected' }]);
  expect(await opened.call('bank__balance')).toBe('null');
  await expect(opened.call('bank__pay', { to: 'Eve' })).rejects.toThrow('no idempotency key');
});
