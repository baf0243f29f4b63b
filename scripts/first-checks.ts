/**
 * Does once what the first skill would wait for: runs the checks of a proof, builds `claw`, and lets Node keep the compiled code of `claw` and of the test runner. Before `npm test` it runs by
 * `prepare.js`, after `npm start` by the supervisor.
 *
 *     npx node scripts/first-checks.ts [--if-needed]
 */
import { existsSync, globSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Tests that load what tests of skills load: the test runner, an assistant, and an agent in its sandbox. */
const TESTS = ['src/host/tests/groups-page.test.ts', 'src/host/tests/running-sandbox.slow.test.ts'];

const root = dirname(import.meta.dirname);
/** Beside the compiled code, so that both go together when packages are installed anew. */
const done = join(root, 'node_modules/.cache/patchclaw/first-checks-done');

if (!process.argv.includes('--if-needed') || !existsSync(done)) {
  // Loaded only here: this runs at each start, and mostly finds that all is done.
  const { runFirstChecks } = await import('../packages/claw/src/operation/first-checks.ts');
  await Promise.all([runFirstChecks(root, process.env), compileTests(), compileClaw()]);
  writeFileSync(done, '');
}

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
  const { execa } = await import('execa');
  // What comes of it does not matter: without it the first skill takes longer, and no more.
  await execa(process.execPath, args, { cwd: root, env, stdio: 'ignore', reject: false });
}
