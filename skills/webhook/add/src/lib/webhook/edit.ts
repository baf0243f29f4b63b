import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Hook, hooksFile, readHooks } from './hook.ts';

/** Makes a secret as the kind of sender wants it, of 32 random bytes. */
export function newSecret(from: Hook['from']): string {
  const bytes = randomBytes(32);
  return from === 'signed' ? `whsec_${bytes.toString('base64')}` : bytes.toString('base64url');
}

/**
 * Writes a hook into the file, in place of one of the same name.
 *
 * @throws Error where the file cannot be read as it is
 */
export function addHook(dataDir: string, hook: Hook): void {
  write(dataDir, [...others(dataDir, hook.name), hook]);
}

/**
 * Takes a hook out of the file.
 *
 * @returns false where there is none of this name
 * @throws Error where the file cannot be read as it is
 */
export function removeHook(dataDir: string, name: string): boolean {
  const hooks = present(dataDir);
  const left = hooks.filter((hook) => hook.name !== name);
  if (left.length === hooks.length) return false;
  write(dataDir, left);
  return true;
}

function others(dataDir: string, name: string): readonly Hook[] {
  return present(dataDir).filter((hook) => hook.name !== name);
}

function present(dataDir: string): readonly Hook[] {
  const read = readHooks(dataDir);
  if (!read.ok) throw new Error(`${read.problem} Mend it first.`);
  return read.hooks;
}

function write(dataDir: string, hooks: readonly Hook[]): void {
  const entries = hooks.map(({ name, text, ...hook }) => [
    name,
    { ...hook, ...(text === null ? {} : { text }) },
  ]);
  const path = hooksFile(dataDir);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const whole = `${JSON.stringify({ hooks: Object.fromEntries(entries) }, null, 2)}\n`;
  writeFileSync(`${path}.new`, whole, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
