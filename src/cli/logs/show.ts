import { join } from 'node:path';
import { screenOf } from '@patchclaw/claw/cli';
import { type Positions, readLast, readNew } from './files.ts';
import { followFolder } from './follow.ts';
import { lineFormat } from './format.ts';
import type { LogLine, Wanted } from './line.ts';

export type LogsRequest = {
  readonly dataDir: string;
  readonly wanted: Wanted;
  /** Number of existing lines to show first. */
  readonly count: number;
  readonly isFollowing: boolean;
  /** The lines as they were written. */
  readonly isRaw: boolean;
  readonly signal: AbortSignal;
};

/** Prints the assistant's logs, and with `isFollowing` what is written until the signal. */
export async function showLogs(request: LogsRequest): Promise<void> {
  const { dataDir, wanted, count, isFollowing, isRaw, signal } = request;
  const folder = join(dataDir, 'logs');
  const positions: Positions = new Map();
  const screen = screenOf(process.stdout, process.env);
  const format = isRaw ? ({ raw }: LogLine) => `${raw}\n` : await lineFormat(screen, Date.now());
  const print = (lines: readonly LogLine[]): void => {
    if (lines.length > 0) process.stdout.write(lines.map(format).join(''));
  };
  const { lines, groups } = readLast(folder, wanted, { count, positions });
  print(lines);
  if (isFollowing) {
    await followFolder(folder, () => print(readNew(folder, wanted, positions)), signal);
  } else if (lines.length === 0 && count > 0) {
    process.stderr.write(`${nothing(folder, wanted, groups)}\n`);
  }
}

function nothing(folder: string, { group }: Wanted, groups: readonly string[]): string {
  if (group !== null && !groups.includes(group)) {
    const known = groups.length === 0 ? '' : ` There are lines of: ${groups.join(', ')}.`;
    return `No line concerns a group "${group}".${known}`;
  }
  return `No such line in ${folder}. The assistant writes there while it runs.`;
}
