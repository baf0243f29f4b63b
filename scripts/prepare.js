// Runs before `npm start` and `npm test`, on whatever Node there is (>= 18): finishes an interrupted
// claw command, and installs the packages of package-lock.json and the pinned Node where they are not there
// yet, makes of some packages what `claw` starts faster with, and checks the types, so that the first skill need
// not wait for that.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasPending, recover } from '../src/engine/transaction/recover.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules/.patchclaw-lock');
const pinned = join(root, 'node_modules/node/bin/node');
/** What the checks of a proof keep for the next proof. */
const KEPT = '.claw/cache/proof-kept.json';

if (Number(process.versions.node.split('.')[0]) < 18) {
  fail('Patchclaw needs Node 18 or newer to install the Node that it runs on.');
}
if (hasPending(root)) finishInterrupted();
const lock = readFileSync(join(root, 'package-lock.json'));
const wanted = createHash('sha256').update(lock).digest('hex');
if (!isStamped() && !isInstalled()) {
  install();
} else if (!existsSync(pinned)) {
  process.stderr.write('The Node that Patchclaw runs on is missing; fetching it …\n');
  fetchNode();
}
const isNew = !isStamped();
if (isNew) writeFileSync(stamp, wanted);
await makeFasterStart().catch(() => {}); // Without it claw starts all the same.
if (isNew && !existsSync(join(root, KEPT))) checkTypes();

function finishInterrupted() {
  const { outcome } = recover(root);
  if (outcome === 'needs-decision') {
    fail('An interrupted claw command needs your decision: node bin/claw.js recover --help');
  }
}

function isStamped() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

/** Tells whether npm's own note of what it installed says the same as the lock file: a skill may have changed both. */
function isInstalled() {
  const hidden = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(hidden)) return false;
  const installed = JSON.parse(readFileSync(hidden, 'utf8')).packages ?? {};
  const locked = Object.entries(JSON.parse(lock.toString('utf8')).packages ?? {});
  return locked.every(
    ([place, { version, optional }]) =>
      place === '' || installed[place]?.version === version || (optional && !installed[place]),
  );
}

function install() {
  process.stderr.write(
    'Installing packages; this happens once and after changes of package-lock.json …\n',
  );
  npm('ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error');
  fetchNode();
}

// The pinned Node comes by its install script, which package.json approves by name. An `npm ci
// --ignore-scripts` leaves the package without it, and the tests would run on the system's Node.
function fetchNode() {
  npm('rebuild', 'node', '--ignore-scripts=false', '--loglevel=error');
  if (!existsSync(pinned)) {
    fail('npm did not bring it. Remove node_modules and try again, with install scripts allowed.');
  }
}

async function makeFasterStart() {
  // Read only now: an update that was cut short may have left another one of it, or none.
  const { makeOneFilePackages } = await import('../bin/one-file-packages.js');
  await makeOneFilePackages(root);
}

// A first proof would spend most of its time on this. What comes of it does not matter here.
function checkTypes() {
  process.stderr.write('Checking the types once, so that the first skill goes in fast …\n');
  spawnSync(pinned, [join(root, 'scripts/first-checks.ts')], { cwd: root, stdio: 'ignore' });
}

/** @param {string[]} args */
function npm(...args) {
  const run = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (run.status !== 0) fail(`npm ${args[0]} failed; see above. Check the network and try again.`);
}

/** @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
