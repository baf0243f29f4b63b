import { resolve } from 'node:path';
import { readEnvFile } from '../env-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the `.env` of a project, and the environment over it. */
export function environmentOf(root: string): Environment {
  return { ...readEnvFile(root), ...process.env };
}

/** Returns the data folder, also if another setting is wrong. */
export function dataDirOf(environment: Environment, root: string): string {
  return resolve(root, environment['CLAW_DATA'] || 'data');
}

/** Returns the time zone that the assistant lives in: its setting, which the shell of a command may not have. */
export function timeZoneOf(environment: Environment): string {
  return environment['TZ'] || Intl.DateTimeFormat().resolvedOptions().timeZone;
}
