import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/**
 * A mark in the data folder of an installation that was restored from a backup: another one may still run on the same
 * accounts. While it is there, no channel but the terminal connects, and nothing works in the background.
 */
export const Fence = z.object({
  /** Milliseconds since the epoch. */
  restoredAt: z.int(),
  backupFrom: z.int(),
});
export type Fence = z.output<typeof Fence>;

/** Returns the file that holds the mark. */
export function fencePath(dataDir: string): string {
  return join(dataDir, 'fenced.json');
}

/** Returns the mark; null if there is none. An unreadable mark counts: silence is the safe side. */
export function readFence(dataDir: string): Fence | null {
  let text: string;
  try {
    text = readFileSync(fencePath(dataDir), 'utf8');
  } catch {
    return null;
  }
  try {
    return Fence.parse(JSON.parse(text));
  } catch {
    return { restoredAt: 0, backupFrom: 0 };
  }
}

/** Returns the words for the owner's chat: what the mark means, and what to do. */
export function fenceWords({ backupFrom }: Fence): string {
  const moment = `${new Date(backupFrom).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `This assistant was restored from a backup of ${moment}. Its channels and tasks are off, since another one may still run on the same accounts: two would answer everybody twice and spoil each other's links. When the other one is stopped for good, say \`/resume here\`.`;
}

/** Removes the mark: this installation is the one that continues. */
export function takeFenceAway(dataDir: string): void {
  rmSync(fencePath(dataDir), { force: true });
}
