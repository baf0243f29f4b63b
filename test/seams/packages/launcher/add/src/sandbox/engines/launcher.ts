import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { endpointVariables } from '../protocol/endpoint.ts';
import { defineEngine, EngineUnusable } from './engine.ts';

export const engine = defineEngine({
  name: 'launcher',
  order: 250,
  limits: 'process',
  install: 'name the program that starts agents in SANDBOX_LAUNCHER',
  settings: z.object({ SANDBOX_LAUNCHER: z.string().optional() }),
  create({ settings: { SANDBOX_LAUNCHER: program } }) {
    function find() {
      if (program === undefined) throw new EngineUnusable('SANDBOX_LAUNCHER is not set.');
      return { program, description: `launcher ${program}` };
    }
    return {
      look: async () => ({ ...find(), image: null, containers: [], rootDir: null }),
      open: async () => ({
        ...find(),
        name: 'launcher',
        transport: { kind: 'tcp', listen: '127.0.0.1', host: '127.0.0.1' },
        async startContainer({ folder, mounts, limits, endpoint }) {
          const wanted = JSON.stringify({ folder, mounts, limits });
          const env = { PATH: '/usr/bin:/bin', ...endpointVariables(endpoint) };
          const child = spawn(find().program, [wanted], { env, stdio: 'ignore' });
          await once(child, 'spawn');
          const ended = once(child, 'exit').then(([code]) => `exit code ${code}`);
          const stop = async () => {
            child.kill('SIGKILL');
            await ended;
          };
          return { id: `launcher-${child.pid}`, ended, stop };
        },
      }),
    };
  },
});
