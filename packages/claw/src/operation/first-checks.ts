import { readConfig } from '../installed/config.ts';
import { listProjectFiles } from '../installed/project-files.ts';
import { prove } from '../proof/prove.ts';
import { openMemory } from '../proof/remembered-passes.ts';
import type { Environment } from '../proof/sandboxed.ts';

/**
 * Runs the checks of a proof on the present tree, and keeps the files that they leave for the next run (`keep`), so
 * that the first proof finds them. Changes nothing else, and keeps nothing if a check fails.
 */
export async function runFirstChecks(root: string, environment: Environment): Promise<void> {
  const config = readConfig(root);
  if (config.check.length === 0 || config.keep.length === 0) return;
  await prove({
    root,
    paths: await listProjectFiles(root, config),
    changed: new Map(),
    tests: [],
    presentTests: [],
    checks: config.check,
    // What fails is not tried again to see whether it failed before.
    present: { checks: [], testCommand: null },
    testCommand: null,
    nodeModules: null,
    keep: config.keep,
    memory: openMemory(root),
    environment,
  });
}
