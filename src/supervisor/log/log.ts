import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import pino from 'pino';
import { scrubber } from './scrub.ts';

export interface Log {
  debug(message: string, data?: Readonly<Record<string, unknown>>): void;
  info(message: string, data?: Readonly<Record<string, unknown>>): void;
  warn(message: string, data?: Readonly<Record<string, unknown>>): void;
  error(message: string, data?: Readonly<Record<string, unknown>>): void;
}

export type LogOptions = {
  /** The prefix of the files in `data/logs/`. */
  readonly name: string;
  readonly dataDir: string;
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  /** True if stderr is read as the log: all of it, in JSON lines. Else only warnings show, readable. */
  readonly isStderrLog: boolean;
  readonly stderr: Writable;
  /** Replaced wherever they turn up, also those that are added later. */
  readonly secrets: ReadonlySet<string>;
  readonly now: () => number;
  /** Told of each line that goes to the file. */
  readonly onLine?: (line: string) => void;
};

/** Writes to a file a day in `data/logs/`, synchronously, so that a crash loses no line, and to stderr. */
export async function openLog(options: LogOptions): Promise<Log> {
  const { level, isStderrLog, name, now, stderr } = options;
  const folder = join(options.dataDir, 'logs');
  const scrub = scrubber(options.secrets);
  const file = dailyFile({ folder, name, now });
  const terminal = isStderrLog ? stderr : await readable(stderr);
  const logger = pino(
    { level, base: null, timestamp: () => `,"time":${now()}` },
    pino.multistream([
      {
        level,
        stream: {
          write(line: string) {
            const clean = scrub(line);
            file.write(clean);
            options.onLine?.(clean.trimEnd());
          },
        },
      },
      {
        level: isStderrLog ? level : atLeastWarn(level),
        stream: { write: (line: string) => void terminal.write(scrub(line)) },
      },
    ]),
  );
  const writer = (at: 'debug' | 'info' | 'warn' | 'error') => {
    return (message: string, data: Readonly<Record<string, unknown>> = {}) =>
      logger[at](data, message);
  };
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  };
}

function atLeastWarn(level: LogOptions['level']): 'warn' | 'error' {
  return level === 'error' ? 'error' : 'warn';
}

async function readable(destination: Writable): Promise<{ write(line: string): unknown }> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination,
    colorize: false,
    ignore: 'pid,hostname',
    translateTime: 'HH:MM:ss',
  });
}

const KEPT_DAYS = 14;
const MAX_DAY_BYTES = 100 * 1024 * 1024;
const FULL_NOTE =
  '{"level":40,"msg":"this file is full; nothing more of this day is written to it"}\n';

type DailyFileOptions = {
  readonly folder: string;
  /** The files are `<name>-2026-11-21.log`, by the date of the machine's own time zone. */
  readonly name: string;
  readonly now: () => number;
  readonly maxBytes?: number;
};

type OpenDay = { readonly day: string; readonly handle: number; size: number; isTorn: boolean };

/**
 * Writes lines into one file a day, readable by their owner alone, at once, so that a crash loses none. Keeps
 * the last 14 days: the first line of a day removes older files.
 *
 * Never throws: on a full disk, and beyond 100 MB a day, lines are lost, and the assistant goes on.
 */
export function dailyFile(options: DailyFileOptions): { write(line: string): void } {
  let open: OpenDay | null = null;

  function today(): OpenDay {
    const day = dayOf(options.now());
    if (open?.day === day) return open;
    if (open !== null) closeSync(open.handle);
    open = null;
    open = openDay(options, day);
    sweep(options, day);
    return open;
  }

  return {
    write(line) {
      try {
        append(today(), line, options.maxBytes ?? MAX_DAY_BYTES);
      } catch {
        // It is the log itself that fails, so it cannot report. Important lines are on stderr as well.
      }
    },
  };
}

/** Returns a day as the names of the files say it. */
export function dayOf(time: number): string {
  const date = new Date(time);
  const part = (number: number): string => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${part(date.getMonth() + 1)}-${part(date.getDate())}`;
}

function openDay({ folder, name }: DailyFileOptions, day: string): OpenDay {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const handle = openSync(join(folder, `${name}-${day}.log`), 'a+', 0o600);
  const { size } = fstatSync(handle);
  const last = Buffer.alloc(1);
  if (size > 0) readSync(handle, last, 0, 1, size - 1);
  return { day, handle, size, isTorn: size > 0 && last.toString() !== '\n' };
}

function append(file: OpenDay, line: string, maxBytes: number): void {
  if (file.size > maxBytes) return;
  // Half a line, of a crash or a full disk, must not take this one with it.
  const bytes = Buffer.from(file.isTorn ? `\n${line}` : line);
  file.isTorn = true;
  file.isTorn = writeSync(file.handle, bytes) < bytes.length;
  file.size += bytes.length;
  if (file.size > maxBytes) writeSync(file.handle, FULL_NOTE);
}

function sweep({ folder, name, now }: DailyFileOptions, day: string): void {
  const oldest = new Date(now());
  oldest.setDate(oldest.getDate() - KEPT_DAYS + 1);
  const firstKept = dayOf(oldest.getTime());
  for (const file of readdirSync(folder)) {
    const date = file.startsWith(`${name}-`) ? /-(\d{4}-\d\d-\d\d)\.log$/.exec(file)?.[1] : null;
    if (date && date < firstKept && date !== day) rmSync(join(folder, file), { force: true });
  }
}
