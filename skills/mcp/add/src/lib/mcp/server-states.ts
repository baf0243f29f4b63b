import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const State = z.object({
  name: z.string(),
  state: z.enum(['starting', 'connected', 'waiting', 'login', 'off']),
  detail: z.string().nullable(),
  tools: z.int(),
  groups: z.array(z.string()),
});

/** A server as the owner is told of it. `waiting` is started again later; `login` needs the owner. */
export type ServerState = z.output<typeof State>;

const Kept = z.object({ at: z.number(), servers: z.array(State) });

/** Notes the states for programs beside the assistant, such as `claw doctor`. */
export function keepStates(dataDir: string, servers: readonly ServerState[], at: number): void {
  const path = stateFile(dataDir);
  mkdirSync(join(dataDir, 'mcp'), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, JSON.stringify({ at, servers }), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Reads the last states that were noted; null where there are none. */
export function readStates(dataDir: string): z.output<typeof Kept> | null {
  try {
    return Kept.parse(JSON.parse(readFileSync(stateFile(dataDir), 'utf8')));
  } catch {
    return null; // Nothing was noted so far, or by another version.
  }
}

function stateFile(dataDir: string): string {
  return join(dataDir, 'mcp', 'state.json');
}

/** Returns a number of tools in words. */
export function countedTools(count: number): string {
  return count === 1 ? '1 tool' : `${count} tools`;
}
