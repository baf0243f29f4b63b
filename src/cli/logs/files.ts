import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { inOrder, isWanted, type LogLine, parseLine, type Wanted } from './line.ts';

/** How far each file has been read, in bytes, always behind a whole line. */
export type Positions = Map<string, number>;

/** What was found: the lines, and of which groups there were any. */
export type Found = { readonly lines: readonly LogLine[]; readonly groups: readonly string[] };

/**
 * The last lines that are wanted, oldest first; from the newest day back, as far as is needed.
 *
 * @param positions is filled, so that a reader who goes on misses none
 */
export function readLast(
  folder: string,
  wanted: Wanted,
  { count, positions }: { readonly count: number; readonly positions: Positions },
): Found {
  const groups = new Set<string>();
  let lines: readonly LogLine[] = [];
  for (const [day, names] of daysOf(folder)) {
    if (wanted.since !== null && endOf(day) < wanted.since) break;
    const all = inOrder(names.map((name) => readOn(join(folder, name), positions)));
    for (const { group } of all) if (group !== null) groups.add(group);
    lines = [...all.filter((line) => isWanted(line, wanted)), ...lines];
    if (lines.length >= count) break;
  }
  return { lines: count === 0 ? [] : lines.slice(-count), groups: [...groups].sort() };
}

/** What was written since, in files that were there and in those of a new day. */
export function readNew(folder: string, wanted: Wanted, positions: Positions): readonly LogLine[] {
  // Days before the first one that was read stay unread.
  const first = [...positions.keys()].map(dayIn).sort()[0] ?? '';
  const fresh = daysOf(folder).filter(([day]) => day >= first);
  const files = fresh.flatMap(([, names]) => names);
  const lines = inOrder(files.map((name) => readOn(join(folder, name), positions)));
  return lines.filter((line) => isWanted(line, wanted));
}

const DAILY = /-(\d{4}-\d\d-\d\d)\.log$/;

function dayIn(path: string): string {
  return DAILY.exec(path)?.[1] ?? '';
}

/** The files of each day, newest day first. */
function daysOf(folder: string): readonly (readonly [string, readonly string[]])[] {
  const names = namesIn(folder).filter((name) => DAILY.test(name));
  const days = [...new Set(names.map(dayIn))].sort().reverse();
  return days.map((day) => [day, names.filter((name) => dayIn(name) === day)] as const);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // Nothing was ever written.
  }
}

function endOf(day: string): number {
  return new Date(`${day}T23:59:59.999`).getTime();
}

/** The whole lines behind a position; what is still being written waits for its end. */
function readOn(path: string, positions: Positions): readonly LogLine[] {
  const text = readFrom(path, positions.get(path) ?? 0);
  const end = text.lastIndexOf(0x0a) + 1;
  positions.set(path, (positions.get(path) ?? 0) + end);
  const lines = text.subarray(0, end).toString('utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map(parseLine);
}

function readFrom(path: string, position: number): Buffer {
  let handle: number;
  try {
    handle = openSync(path, 'r');
  } catch {
    return Buffer.alloc(0); // Two weeks old, and removed just now.
  }
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(handle).size - position));
    return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, position));
  } finally {
    closeSync(handle);
  }
}
