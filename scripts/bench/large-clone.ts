import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Codebase, openCodebase } from '../../src/testing/claw/codebase.ts';

/** Returns a clone of a committed codebase: the composed tree and everything that goes with it. */
export function cloneOf(codebase: Codebase): Codebase {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'claw-bench-clone-')));
  codebase.git('clone', '--quiet', '--local', codebase.root, root);
  return openCodebase(root);
}

/** Returns the same as the bare core, with what `.claw/` commits beside it. */
export function bareCloneOf(codebase: Codebase): Codebase {
  const clone = cloneOf(codebase);
  clone.git('checkout', '--quiet', 'v1.0.0');
  for (const name of readdirSync(codebase.path('.claw'))) {
    if (/^(cache|tx|backup|pending|lock\.db.*)$/.test(name)) continue;
    cpSync(codebase.path(`.claw/${name}`), clone.path(`.claw/${name}`), { recursive: true });
  }
  return clone;
}

/** Back to the bare core, whatever was published. */
export function makeBare(clone: Codebase): void {
  clone.git('checkout', '--quiet', '--', '.');
  clone.git('clean', '--quiet', '-fd', '--', 'src');
}

export function dropCache(codebase: Codebase): void {
  rmSync(codebase.path('.claw/cache'), { recursive: true, force: true });
}
