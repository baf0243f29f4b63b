import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Container, type Engine, MachineLost } from '../engines/engine.ts';
import { agentUser } from '../mounts/ownership.ts';
import { AgentNotReady, WarmAgent } from './warm-agent.ts';

test.for([
  ['a machine that is lost before its agent is up is a lost machine', true, MachineLost],
  [
    'a container that ends before its agent is up is an agent that did not start',
    false,
    AgentNotReady,
  ],
] as const)('%s', async ([, isMachineLost, error]) => {
  const socketDir = await mkdtemp(join(tmpdir(), 'claw-warm-'));
  const container: Container = {
    id: 'c1',
    ended: Promise.resolve('it is gone'),
    isMachineLost,
    stop: async () => {},
  };
  const engine: Engine = {
    name: 'far:nas',
    machine: 'nas',
    description: 'a test',
    startContainer: async () => container,
  };
  const user = agentUser({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  const parts = { engine, folder: 'family', mounts: [], socketDir, user };
  try {
    await expect(
      WarmAgent.start({ ...parts, modelTimeoutMs: 1_000, timeZone: 'UTC' }),
    ).rejects.toBeInstanceOf(error);
  } finally {
    await rm(socketDir, { recursive: true, force: true });
  }
});
