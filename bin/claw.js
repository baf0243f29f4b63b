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

if (!existsSync(pinned)) await finishInterrupted();
if (Number(process.versions.node.split('.')[0]) >= NEEDED) await start();
else handOver();

async function finishInterrupted() {
  const { hasPending, recover } = await import('../src/engine/transaction/recover.js');
  if (!hasPending(home)) return;
  const { outcome } = recover(home);
  if (outcome !== 'needs-decision' && outcome !== 'locked') return;
  process.stderr.write(`claw: an interrupted command could not be finished (${outcome})\n`);
  process.exit(outcome === 'locked' ? 5 : 6);
}

async function start() {
  module.enableCompileCache?.(join(home, 'node_modules/.cache/patchclaw'));
  const { main } = await import('../src/cli/main.ts');
  process.exitCode = await main(process.argv.slice(2));
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
