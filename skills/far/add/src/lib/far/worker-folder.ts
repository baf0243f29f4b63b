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

/** Returns null where this machine has not joined. */
export function readWorkerConfig(dataDir: string): WorkerConfig | null {
  const path = configPath(dataDir);
  return existsSync(path) ? Config.parse(JSON.parse(readFileSync(path, 'utf8'))) : null;
}

export function writeWorkerConfig(dataDir: string, config: WorkerConfig): void {
  mkdirSync(workerFolder(dataDir), { recursive: true, mode: 0o711 });
  writeFileSync(configPath(dataDir), JSON.stringify(config, null, 2), { mode: 0o600 });
}
