#!/usr/bin/env node
// The `claw` command. Plain JavaScript on Node's built-ins: it must start on an older Node, which
// hands over to the pinned one, and while `node_modules` is half swapped, which it finishes first.
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED = 24;
const home = dirname(dirname(fileURLToPath(import.meta.url)));
const pinned = join(home, 'node_modules/node/bin/node');
const DECIDE = 'Run claw recover with --keep-mine, --roll-forward or --roll-back.';

/** @type {Readonly<Record<number, string>>} */
const OUTCOMES = { 1: 'failed', 5: 'locked', 6: 'refused' };
const RUNNING = 'Another claw command is at work on claw itself. Wait for it to finish.';

/** Files in which an interrupted command met edits of the owner. @type {readonly string[]} */
let edited = [];
let isRunning = false;

const isNewEnough = Number(process.versions.node.split('.')[0]) >= NEEDED;
if (!isNewEnough && existsSync(pinned)) await handOver();
// An update may have been cut short while it replaced claw itself.
if (!existsSync(pinned) || existsSync(join(home, '.claw/tx'))) await finishInterrupted();
if (isNewEnough) await start();
else await handOver();

async function finishInterrupted() {
  const { hasPending, recover } = await import('../packages/claw/src/transaction/recover.js');
  if (!hasPending(home)) return;
  const { outcome, kept } = recover(home, decisionOf(process.argv.slice(2)));
  edited = kept;
  isRunning = outcome === 'locked';
  if (outcome === 'rolled-forward' || outcome === 'rolled-back') {
    const way = outcome === 'rolled-back' ? 'taken back' : 'finished';
    process.stderr.write(`claw: an interrupted command was ${way} first\n`);
  }
  // With its packages there, claw itself says what is the matter.
  if ((outcome !== 'needs-decision' && outcome !== 'locked') || existsSync(pinned)) return;
  if (isRunning) fail(5, 'LOCK_HELD', RUNNING);
  fail(6, 'RECOVERY_NEEDS_DECISION', `An interrupted command could not be finished. ${DECIDE}`);
}

/**
 * claw itself may be what is half there, so its own `recover` is understood here as well.
 *
 * @param {string[]} args
 */
function decisionOf(args) {
  if (!args.includes('recover') || args.some((arg) => arg.startsWith('--cwd'))) return null;
  const known = /** @type {const} */ (['keep-mine', 'roll-forward', 'roll-back', 'adopt']);
  return known.find((name) => args.includes(`--${name}`)) ?? null;
}

async function start() {
  // By paths from there: a copy of this folder finds it as well, such as that of a proof, whose tests start claw too.
  process.env['NODE_COMPILE_CACHE_PORTABLE'] = '1';
  module.enableCompileCache?.(join(home, 'node_modules/.cache/patchclaw'));
  delete process.env['NODE_COMPILE_CACHE_PORTABLE'];
  const { currentBuild } = await import('../packages/claw/build/current.js').catch(explainBroken);
  const { folder, warning } = await currentBuild(home).catch(explainBroken);
  if (warning !== null) process.stderr.write(`warning: ${warning}\n`);
  const { main } = await import(pathToFileURL(join(folder, 'claw.js')).href).catch(explainBroken);
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const beside = async () => (await import('../src/cli/edition.ts')).BESIDE;
  process.exitCode = await main(process.argv.slice(2), { version, beside });
}

/** @param {unknown} error @returns {Promise<never>} */
async function explainBroken(error) {
  if (isRunning) fail(5, 'LOCK_HELD', RUNNING);
  const { hasPending } = await import('../packages/claw/src/transaction/recover.js');
  if (hasPending(home)) {
    const half = 'An interrupted command left claw itself half replaced, and met edits of yours.';
    fail(6, 'RECOVERY_NEEDS_DECISION', `${half} ${DECIDE}`);
  }
  if (edited.length === 0) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  fail(
    1,
    'INTERNAL',
    `Your edits were kept in ${edited.join(', ')}, and claw itself does not start with them: ` +
      `${reason}. The old and the new text lie beside yours in .claw/backup, under conflicts/.`,
  );
}

/**
 * Prints what claw itself would, where it cannot be asked.
 *
 * @param {number} exitCode @param {string} code @param {string} message @returns {never}
 */
function fail(exitCode, code, message) {
  const path = edited[0] ?? null;
  const verb = process.argv[2] ?? '';
  const error = { code, message, path, data: { kept: edited } };
  const nothing = { data: null, changes: [], conflicts: [], warnings: [] };
  const result = { ok: false, verb, outcome: OUTCOMES[exitCode], ...nothing };
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ ...result, error })}\n`);
  } else process.stderr.write(`${code}: ${message}\n`);
  process.exit(exitCode);
}

async function handOver() {
  if (!existsSync(pinned)) {
    process.stderr.write(
      `claw needs Node ${NEEDED}, which comes with its packages: run "npm start" in ${home} once.\n`,
    );
    process.exit(1);
  }
  // Loaded where it is needed: on the pinned Node no command pays for it.
  const { spawn } = await import('node:child_process');
  const { isatty } = await import('node:tty');
  // A young heap that begins larger is collected less often; one that ends smaller takes up to 20 MB less.
  const heap = ['--min-semi-space-size=4', '--max-semi-space-size=8'];
  const args = [...heap, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(pinned, args, { stdio: 'inherit' });
  // It cleans up before it ends, and whoever waits for this process waits for that. A terminal sends Ctrl-C and its own
  // end to both, and the second signal of a kind would cut the cleaning short.
  const isTerminal = [0, 1, 2].some((fd) => isatty(fd));
  for (const name of /** @type {const} */ (['SIGINT', 'SIGHUP', 'SIGTERM'])) {
    process.on(name, () => {
      if (name === 'SIGTERM' || !isTerminal) child.kill(name);
    });
  }
  /** @type {[number | null, NodeJS.Signals | null]} */
  const [status, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (...end) => resolve(end));
  });
  if (signal !== null) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exit(status ?? 1);
}
