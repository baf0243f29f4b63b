#!/usr/bin/env node
// The `claw` command. Plain JavaScript on Node's built-ins: it must start on an older Node, which
// hands over to the pinned one, and while `node_modules` is half swapped, which it finishes first.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;
const home = dirname(dirname(fileURLToPath(import.meta.url)));
const pinned = join(home, 'node_modules/node/bin/node');

// An update may have been cut short while it replaced claw itself.
if (!existsSync(pinned) || existsSync(join(home, '.claw/tx'))) await finishInterrupted();
if (Number(process.versions.node.split('.')[0]) >= NEEDED) await start();
else handOver();

async function finishInterrupted() {
  const { hasPending, recover } = await import('../src/engine/transaction/recover.js');
  if (!hasPending(home)) return;
  const { outcome, kept } = recover(home, decisionOf(process.argv.slice(2)));
  if (outcome === 'rolled-forward' || outcome === 'rolled-back') {
    const way = outcome === 'rolled-back' ? 'taken back' : 'finished';
    process.stderr.write(`claw: an interrupted command was ${way} first\n`);
  }
  // With its packages there, claw itself says what is the matter.
  if ((outcome !== 'needs-decision' && outcome !== 'locked') || existsSync(pinned)) return;
  const edited = kept.length > 0 ? `: ${kept.join(', ')}` : '';
  process.stderr.write(
    `claw: an interrupted command could not be finished (${outcome}${edited})\n`,
  );
  process.exit(outcome === 'locked' ? 5 : 6);
}

/**
 * claw itself may be what is half there, so its own `recover` is understood here as well.
 *
 * @param {string[]} args
 */
function decisionOf(args) {
  if (!args.includes('recover') || args.some((arg) => arg.startsWith('--cwd'))) return null;
  const known = /** @type {const} */ (['keep-mine', 'roll-forward', 'roll-back']);
  return known.find((name) => args.includes(`--${name}`)) ?? null;
}

async function start() {
  const cache = join(home, 'node_modules/.cache/patchclaw');
  module.enableCompileCache?.(cache);
  const bundled = await loadBundle(cache);
  const { main } = bundled ?? (await import('../src/cli/main.ts').catch(explainBroken));
  process.exitCode = await main(process.argv.slice(2));
  if (bundled !== null) return;
  const { makeBundle } = await import('../src/cli/bundle.js');
  await makeBundle(home, cache);
}

/**
 * The same code in one file, where there is such a cache of it.
 *
 * @param {string} cache @returns {Promise<typeof import('../src/cli/main.ts') | null>}
 */
async function loadBundle(cache) {
  try {
    const { findBundle } = await import('../src/cli/bundle.js');
    const address = findBundle(home, cache);
    return address === null ? null : await import(address);
  } catch {
    return null; // Half replaced, or swept by another command just now: the sources tell.
  }
}

/** @param {unknown} error @returns {Promise<never>} */
async function explainBroken(error) {
  const { hasPending } = await import('../src/engine/transaction/recover.js');
  if (!hasPending(home)) throw error;
  process.stderr.write(
    'claw: an interrupted command left claw itself half replaced, and met edits of yours. Run ' +
      'claw recover with --keep-mine, --roll-forward or --roll-back.\n',
  );
  process.exit(6);
}

function handOver() {
  if (!existsSync(pinned)) {
    process.stderr.write(
      `claw needs Node ${NEEDED}, which comes with its packages: run "npm start" in ${home} once.\n`,
    );
    process.exit(1);
  }
  const child = spawnSync(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  if (child.error) throw child.error;
  if (child.signal) process.kill(process.pid, child.signal);
  process.exit(child.status ?? 1);
}
