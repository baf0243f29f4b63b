import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvFile } from './env-file.ts';
import type { Environment } from './lib/settings.ts';
import { withoutEnvFile } from './wrong-settings.ts';

/**
 * Returns what reads the environment as a start would at that moment: `.env` is read again when it has changed.
 * A `.env` that cannot be read leaves things as they were.
 */
export function openLiveEnvironment(
  environment: Environment,
  projectDir: string,
): () => Environment {
  const outside = withoutEnvFile(environment, projectDir);
  let read = { version: versionOf(projectDir), environment };
  return () => {
    const version = versionOf(projectDir);
    if (version === read.version) return read.environment;
    try {
      read = { version, environment: { ...readEnvFile(projectDir), ...outside } };
    } catch {
      // It is being written, or was made unreadable: the next call looks again.
    }
    return read.environment;
  };
}

function versionOf(projectDir: string): string {
  const found = statSync(join(projectDir, '.env'), { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
}
