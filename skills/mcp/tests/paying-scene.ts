import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { borrowed, testSandbox, textsOf } from '../../../src/testing/assistant.ts';
import type { Scene } from '../../../src/testing/turn/interrupted-actions.ts';
import { runHere } from './fixtures.ts';

/** Returns what the server has paid: for each payment its tool and its idempotency key. */
export function paymentsIn(dir: string): readonly string[] {
  const path = join(dir, 'payments');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setTimeout(20);
}

/** An assistant with a server of the protocol that runs as a program beside it. */
export const scene: Scene = {
  partsFor(dir, agent) {
    const command = { command: 'node', args: [SERVER, join(dir, 'payments')] };
    mkdirSync(join(dir, 'data/mcp'), { recursive: true });
    writeFileSync(
      join(dir, 'data/mcp/mcp.json'),
      JSON.stringify({ mcpServers: { bank: command } }),
    );
    const sandbox = { ...testSandbox(agent), startProgram: runHere };
    return { over: { sandbox: borrowed(sandbox) } };
  },
  async ready({ terminal }) {
    const isConnected = () => textsOf(terminal).join().includes('**bank**: connected');
    while (!isConnected()) {
      const { length } = terminal.sent;
      await terminal.say('/mcp');
      await until(() => terminal.sent.length > length);
    }
  },
  begun: async (dir) =>
    await until(() => paymentsIn(dir).some((row) => row.startsWith('pay_slowly '))),
};

const SERVER = join(import.meta.dirname, 'paying-server.ts');
