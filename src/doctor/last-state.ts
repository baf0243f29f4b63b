import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** A change of a channel's state, and its time. */
export type ChannelState = {
  readonly time: number;
  readonly state: string;
  readonly detail: string | null;
};

const Line = z.object({
  time: z.number(),
  channel: z.string(),
  state: z.string(),
  detail: z.string().nullable().default(null),
});

/** Returns a channel's last state according to the assistant's log; null if the log says nothing. */
export function lastChannelState(dataDir: string, channel: string): ChannelState | null {
  const folder = join(dataDir, 'logs');
  const names = namesIn(folder).filter((name) => /^assistant-[\d-]+\.log$/.test(name));
  for (const name of names.sort().reverse()) {
    const lines = readFileSync(join(folder, name), 'utf8').split('\n');
    const found = lines.findLast((line) => stateIn(line)?.channel === channel);
    if (found !== undefined) return stateIn(found);
  }
  return null;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // It never ran.
  }
}

function stateIn(line: string) {
  if (!line.includes('"state"')) return null;
  try {
    return Line.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null; // Half written.
  }
}
