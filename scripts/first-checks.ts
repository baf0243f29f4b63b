/**
 * Runs once what the first skill would wait for: the checks of a proof, and programs whose code Node keeps compiled
 * for `claw` and for the tests of later proofs.
 *
 *     node scripts/first-checks.ts
 */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { runFirstChecks } from '../src/engine/operation/proof/first-checks.ts';

/** Tests that load what tests of skills load: the test runner, an assistant, and an agent in its sandbox. */
const TESTS = ['src/host/tests/groups-page.test.ts', 'src/host/tests/running-sandbox.test.ts'];

const root = dirname(import.meta.dirname);
await Promise.all([runFirstChecks(root, process.env), compileTests(), compileClaw()]);

/** Only here it is written: in a proof it is read-only. */
async function compileTests(): Promise<void> {
  await run(['node_modules/.bin/vitest', 'run', '--no-isolate', '--maxWorkers=1', ...TESTS], {
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/patchclaw/proof'),
    NODE_COMPILE_CACHE_PORTABLE: '1',
  });
}

/** `claw` keeps its own code where it is started. */
async function compileClaw(): Promise<void> {
  const [skill] = globSync('skills/*/manifest.yaml', { cwd: root }).sort();
  if (skill === undefined) return;
  await run(['bin/claw.js', 'plan', 'apply', dirname(skill)], {});
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  // What comes of it does not matter: without it the first skill takes longer, and no more.
  await execa(process.execPath, args, { cwd: root, env, stdio: 'ignore', reject: false });
}
