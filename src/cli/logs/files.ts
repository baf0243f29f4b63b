import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { inOrder, isWanted, type LogLine, parseLine, type Wanted } from './line.ts';

/** The bytes read of each file so far, always up to the end of a whole line. */
export type Positions = Map<string, number>;

/** The lines that were found, and the names of all groups that the files mention. */
export type Found = { readonly lines: readonly LogLine[]; readonly groups: readonly string[] };

/**
 * Reads the last lines that pass the filter, oldest first, going back from the newest day as far as needed.
 *
 * @param positions is filled, so that `readNew` goes on from there
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

/** Reads the lines written since the last call, in known files and in those of new days. */
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

/** Returns the files of each day, newest day first. */
function daysOf(folder: string): readonly (readonly [string, readonly string[]])[] {
  const names = listNames(folder).filter((name) => DAILY.test(name));
  const days = [...new Set(names.map(dayIn))].sort().reverse();
  return days.map((day) => [day, names.filter((name) => dayIn(name) === day)] as const);
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // Nothing was ever written.
  }
}

function endOf(day: string): number {
  return new Date(`${day}T23:59:59.999`).getTime();
}

/** Reads the whole lines after a position; a line that is still being written is left for the next call. */
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
