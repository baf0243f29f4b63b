import { mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import pino from 'pino';

export interface Log {
  debug(message: string, data?: Readonly<Record<string, unknown>>): void;
  info(message: string, data?: Readonly<Record<string, unknown>>): void;
  warn(message: string, data?: Readonly<Record<string, unknown>>): void;
  error(message: string, data?: Readonly<Record<string, unknown>>): void;
}

export type LogOptions = {
  /** The file's name in `data/logs/`. */
  readonly name: string;
  readonly dataDir: string;
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  /** On a terminal logs are readable and only warnings show; piped, they are JSON lines. */
  readonly isInteractive: boolean;
  readonly stderr: Writable;
  /** Replaced wherever they turn up. */
  readonly secrets: readonly string[];
};

const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Writes to `data/logs/<name>.log`, synchronously, so that a crash loses no line, and to stderr. */
export async function openLog(options: LogOptions): Promise<Log> {
  const { level, isInteractive, secrets, stderr } = options;
  const file = pino.destination({ dest: prepareFile(options), sync: true, mode: 0o600 });
  const terminal = isInteractive ? await readable(stderr) : stderr;
  const logger = pino(
    { level, base: null },
    pino.multistream([
      { level, stream: scrubbed(file, secrets) },
      { level: isInteractive ? 'warn' : level, stream: scrubbed(terminal, secrets) },
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

function prepareFile({ dataDir, name }: LogOptions): string {
  const folder = join(dataDir, 'logs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.log`);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_FILE_BYTES) renameSync(path, `${path}.1`);
  return path;
}

type LineWriter = { write(line: string): unknown };

async function readable(destination: Writable): Promise<LineWriter> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ destination, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' });
}

function scrubbed(target: LineWriter, secrets: readonly string[]) {
  return {
    write(line: string) {
      target.write(secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line));
    },
  };
}
