import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Codebase } from '../../src/testing/claw/codebase.ts';

/**
 * Back to the core as it was released, with nothing of claw's. That is moved away, since for a minute ext4 looks
 * in vain for free inodes among those just deleted: creating files then takes up to ten times as long.
 */
export function makeBare(codebase: Codebase): void {
  const away = codebase.path('.git/bench-away');
  mkdirSync(away, { recursive: true });
  if (codebase.has('.claw'))
    renameSync(codebase.path('.claw'), join(mkdtempSync(`${away}/`), 'claw'));
  codebase.git('checkout', '--quiet', '--', '.');
  codebase.git('clean', '--quiet', '-fdx', '--', '.');
}

/** Back to the core, with that of `.claw/` which was kept aside; what was computed for later is gone. */
export function makeClone(codebase: Codebase, names: readonly string[]): void {
  makeBare(codebase);
  for (const name of names) {
    cpSync(keptIn(codebase, name), codebase.path(`.claw/${name}`), { recursive: true });
  }
}

/** Keeps aside what `.claw/` commits. */
export function keepClaw(codebase: Codebase): void {
  for (const name of readdirSync(codebase.path('.claw'))) {
    if (/^(cache|tx|backup|pending|lock\.db.*)$/.test(name)) continue;
    cpSync(codebase.path(`.claw/${name}`), keptIn(codebase, name), { recursive: true });
  }
}

/** Returns the names that are kept aside. */
export function keptNames(codebase: Codebase): readonly string[] {
  return readdirSync(keptIn(codebase, ''));
}

export function dropCache(codebase: Codebase): void {
  rmSync(codebase.path('.claw/cache'), { recursive: true, force: true });
}

function keptIn(codebase: Codebase, name: string): string {
  return join(codebase.path('.git/bench-claw'), name);
}
