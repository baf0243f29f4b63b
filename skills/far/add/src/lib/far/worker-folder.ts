import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Config = z.object({
  name: z.string(),
  host: z.string(),
  port: z.number().int(),
  certificate: z.string(),
  seed: z.string(),
  abilities: z.array(z.string().max(64)).max(32),
  capacity: z.number().int().min(1).max(1_000),
  patienceMinutes: z.number().int().min(1).max(60),
});

/** What a machine that has joined knows: its home, and its own key. */
export type WorkerConfig = z.output<typeof Config>;

export const workerFolder = (dataDir: string): string => join(dataDir, 'far-worker');

const configPath = (dataDir: string): string => join(workerFolder(dataDir), 'worker.json');

const Engines = z.object({ last: z.string().nullable(), accepted: z.string().nullable() });

const enginesPath = (dataDir: string): string => join(workerFolder(dataDir), 'engines.json');

/** The engines of this machine's agents, by the rule of an assistant: a weaker one needs the owner's word. */
export const workerEngines = (dataDir: string) => {
  const path = enginesPath(dataDir);
  const read = () =>
    existsSync(path)
      ? Engines.parse(JSON.parse(readFileSync(path, 'utf8')))
      : { last: null, accepted: null };
  const write = (changes: Partial<z.output<typeof Engines>>) => {
    mkdirSync(workerFolder(dataDir), { recursive: true, mode: 0o711 });
    writeFileSync(path, JSON.stringify({ ...read(), ...changes }), { mode: 0o600 });
  };
  return {
    /** The weakest one that agents may get unasked; null where none ever ran them. */
    least: (): string | null => read().accepted ?? read().last,
    /** Agents run in it now. */
    note: (last: string): void => write({ last }),
    /** The owner lets agents run in it, and in better ones. */
    accept: (accepted: string): void => write({ accepted }),
  };
};

/** Returns null where this machine has not joined. */
export function readWorkerConfig(dataDir: string): WorkerConfig | null {
  const path = configPath(dataDir);
  return existsSync(path) ? Config.parse(JSON.parse(readFileSync(path, 'utf8'))) : null;
}

export function writeWorkerConfig(dataDir: string, config: WorkerConfig): void {
  mkdirSync(workerFolder(dataDir), { recursive: true, mode: 0o711 });
  writeFileSync(configPath(dataDir), JSON.stringify(config, null, 2), { mode: 0o600 });
}
