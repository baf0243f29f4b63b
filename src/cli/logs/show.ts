import { closeSync, fstatSync, openSync, readdirSync, readSync, watch } from 'node:fs';
import { join } from 'node:path';
import { painted, type Screen, screenOf } from '@patchclaw/claw/cli';
import { z } from 'zod';
import { withReadOnlyQueries } from '../../store/read-only-queries.ts';
import { LEVELS } from './arguments.ts';

/** A filter of lines; null means any. */
type LineFilter = {
  readonly group: string | null;
  readonly level: number;
  readonly since: number | null;
};

export type LogsRequest = {
  readonly dataDir: string;
  readonly wanted: LineFilter;
  /** Number of existing lines to show first. */
  readonly count: number;
  readonly isFollowing: boolean;
  /** The lines as they were written. */
  readonly isRaw: boolean;
  readonly signal: AbortSignal;
};

/** The bytes read of each file so far, always up to the end of a whole line. */
type Positions = Map<string, number>;

/**
 * Prints the assistant's logs, and with `isFollowing` what is written until the signal.
 *
 * @returns what to say of a group that nothing here knows; null where all is shown
 */
export async function showLogs(request: LogsRequest): Promise<string | null> {
  const { dataDir, wanted, count, isFollowing, isRaw, signal } = request;
  const folder = join(dataDir, 'logs');
  const positions: Positions = new Map();
  const screen = screenOf(process.stdout, process.env);
  const format = isRaw ? ({ raw }: LogLine) => `${raw}\n` : await lineFormat(screen, Date.now());
  const print = (lines: readonly LogLine[]): void => {
    if (lines.length > 0) process.stdout.write(lines.map(format).join(''));
  };
  const { lines, groups } = readLast(folder, wanted, { count, positions });
  const { group } = wanted;
  if (
    group !== null &&
    lines.length === 0 &&
    !groups.includes(group) &&
    !isFolder(dataDir, group)
  ) {
    const known = groups.length === 0 ? '' : ` There are lines of: ${groups.join(', ')}.`;
    return `No line concerns a group "${group}".${known} \`npx claw groups\` lists the groups.`;
  }
  print(lines);
  if (isFollowing) {
    await followFolder(folder, () => print(readNew(folder, wanted, positions)), signal);
  } else if (lines.length === 0 && count > 0) {
    process.stderr.write(`No such line in ${folder}. The assistant writes there while it runs.\n`);
  }
  return null;
}

/** Tells whether a group has this folder, of which there need not be a line yet. */
function isFolder(dataDir: string, folder: string): boolean {
  try {
    return withReadOnlyQueries(join(dataDir, 'claw.db'), (queries) =>
      queries.chats().some(({ group }) => group?.folder === folder),
    );
  } catch {
    return true; // The database cannot be read now: nothing says that the name is wrong.
  }
}

/** Interval for looking again where the system reports no changes, such as on a network drive. */
const FALLBACK_MS = 1_000;

/** Calls `look` now, and after each change in a folder until the signal. The folder may come later. */
async function followFolder(folder: string, look: () => void, signal: AbortSignal): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const stopWatching = startWatching(folder, look);
  const timer = setInterval(look, FALLBACK_MS);
  signal.addEventListener('abort', () => resolve());
  look();
  if (!signal.aborted) await ended;
  clearInterval(timer);
  stopWatching();
}

function startWatching(folder: string, look: () => void): () => void {
  try {
    const watcher = watch(folder, look);
    watcher.on('error', () => {});
    return () => watcher.close();
  } catch {
    return () => {}; // Not there yet, or the system has no more watches: the timer looks.
  }
}

/** One line of the logs. A line that is not JSON, such as the output of a crash, is kept as it is. */
type LogLine = {
  readonly raw: string;
  readonly time: number | null;
  readonly level: number;
  readonly group: string | null;
  readonly fields: Readonly<Record<string, unknown>> | null;
};

const Fields = z.looseObject({
  level: z.number().default(LEVELS.info),
  time: z.number().optional(),
  group: z.string().optional(),
});

function parseLine(raw: string): LogLine {
  const fields = Fields.safeParse(parseJson(raw)).data ?? null;
  if (fields === null) return { raw, time: null, level: LEVELS.error, group: null, fields };
  const { level, time = null, group = null } = fields;
  return { raw, time, level, group, fields };
}

function isWanted({ group, level, time }: LogLine, wanted: LineFilter): boolean {
  if (wanted.group !== null && group !== wanted.group) return false;
  if (wanted.since !== null && time !== null && time < wanted.since) return false;
  return level >= wanted.level;
}

/** Sorts lines of several files by time; a line without a time stays after its predecessor. */
function inOrder(files: readonly (readonly LogLine[])[]): readonly LogLine[] {
  const timed = files.flatMap((lines) => {
    let last = 0;
    return lines.map((line) => {
      last = line.time ?? last;
      return { line, time: last };
    });
  });
  return timed.sort((one, other) => one.time - other.time).map(({ line }) => line);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // Printed as it is.
  }
}

/** The lines that were found, and the names of all groups that the files mention. */
type FoundLines = { readonly lines: readonly LogLine[]; readonly groups: readonly string[] };

/**
 * Reads the last lines that pass the filter, oldest first, going back from the newest day as far as needed.
 *
 * @param positions is filled, so that `readNew` goes on from there
 */
function readLast(
  folder: string,
  wanted: LineFilter,
  { count, positions }: { readonly count: number; readonly positions: Positions },
): FoundLines {
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
function readNew(folder: string, wanted: LineFilter, positions: Positions): readonly LogLine[] {
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

/** A line for people; a heading comes before the first line of each day. */
type FormatLine = (line: LogLine) => string;

/** @param today lines of this day need no heading at first */
async function lineFormat(screen: Screen, today: number): Promise<FormatLine> {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: screen.hasColours,
    singleLine: true,
    errorLikeObjectKeys: [],
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,group',
    messageFormat: '{if group}[{group}] {end}{msg}',
  });
  let day = dayOf(today);
  return ({ fields, raw, time }) => {
    const isNewDay = time !== null && dayOf(time) !== day;
    if (isNewDay) day = dayOf(time);
    const heading = isNewDay ? `${painted(day, 'dim', screen)}\n` : '';
    const text = fields === null ? `${plain(raw)}\n` : pretty(plainIn(fields));
    return `${heading}${text ?? ''}`;
  };
}

function dayOf(time: number): string {
  return new Date(time).toLocaleDateString('sv');
}

/** Replaces control characters, so that text from a log cannot steer the terminal. */
function plain(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, '\uFFFD');
}

function plainIn(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const copy: unknown = JSON.parse(JSON.stringify(fields), (_, value: unknown) =>
    // What is not there is left out, as undefined is.
    value === null ? undefined : typeof value === 'string' ? plain(value) : value,
  );
  return copy as Readonly<Record<string, unknown>>;
}
