import { join } from 'node:path';
import type { Writable } from 'node:stream';
import pino from 'pino';
import { dailyFile } from './daily-file.ts';
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
