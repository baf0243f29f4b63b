// Runs before `npm start` and `npm test`, on whatever Node there is (>= 18): finishes an interrupted claw command,
// and installs the packages of package-lock.json and the pinned Node if they are missing. Before `npm test` it also
// runs first-checks.ts; after `npm start` the supervisor does that, once the assistant can answer.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasPending, recover } from '../packages/claw/src/transaction/recover.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules/.patchclaw-lock');
const pinned = nodeOf(root);
/** Other packages are installed in here, and swapped in when they are whole. */
const beside = join(root, '.claw/cache/packages');
const replaced = join(beside, 'replaced');
/** After the greeting the supervisor runs the first checks. */
const isStart = process.env['npm_lifecycle_event'] === 'prestart';
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
/** Codes with which npm says at once that the registry cannot be reached; a timeout may be a slow network. */
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH)\b/;

if (Number(process.versions.node.split('.')[0]) < 18) {
  fail('Patchclaw needs Node 18 or newer to install the Node that it runs on.');
}
if (hasPending(root)) finishInterrupted();
// Killed between the two renames of `swapIn`.
if (!existsSync(join(root, 'node_modules')) && existsSync(replaced)) {
  renameSync(replaced, join(root, 'node_modules'));
}
const lockPath = join(root, 'package-lock.json');
// `npm pack` leaves the lock file out, but for one of this name.
if (!existsSync(lockPath)) renameSync(join(root, 'npm-shrinkwrap.json'), lockPath);
const lock = readFileSync(lockPath);
const packages = JSON.parse(lock.toString('utf8')).packages ?? {};
const wanted = createHash('sha256').update(lock).digest('hex');
if (!isStamped() && !isInstalled()) {
  await install();
} else if (!existsSync(pinned)) {
  say('The Node that Patchclaw runs on is missing. Downloading it …');
  rebuildNode(root);
}
const isNew = !isStamped();
if (isNew) writeFileSync(stamp, wanted);
if (isNew && !isStart) runFirstChecks();

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
  return Object.entries(packages).every(
    ([place, { version, optional }]) =>
      place === '' || installed[place]?.version === version || (optional && !installed[place]),
  );
}

/** Asks npm's registry for a sign of life; what is wrong, in words, or null. */
function registryProblem() {
  const args = ['ping', '--fetch-retries=0', '--fetch-timeout=10000', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  const [code] = status === 0 ? [] : (UNREACHABLE.exec(stderr ?? '') ?? []);
  return code === undefined ? null : `The package registry of npm cannot be reached (${code}).`;
}

// `npm ci` empties node_modules first. Packages that are there are what this tree can still run with, so the new ones
// are installed beside them. The pinned Node is downloaded meanwhile: one after the other takes a third longer.
async function install() {
  const isFirst = !existsSync(join(root, 'node_modules'));
  const why = isFirst ? 'about 500 MB, only this once' : 'other versions are wanted than are here';
  say(`${isStart ? '1/2 ' : ''}Installing packages (${why}) …`);
  // Without a network npm would retry each package for minutes in silence; from its cache alone it ends at once.
  const unreachable = registryProblem();
  if (unreachable !== null) say(`${unreachable} Using the packages that npm has kept here …`);
  const quiet = unreachable === null ? QUIET : [...QUIET, '--offline'];
  const folder = mkdtempSync(join(tmpdir(), 'patchclaw-node-'));
  const place = isFirst || !layOutBeside() ? root : beside;
  // Also after Ctrl-C, and where this gives up.
  process.on('exit', () => {
    const isSwapped = existsSync(join(root, 'node_modules'));
    for (const made of isSwapped ? [folder, beside] : [folder]) {
      rmSync(made, { recursive: true, force: true });
    }
  });
  const stop = () => process.exit(130);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const downloading = downloadNode(folder, quiet);
  const status = await run(place, 'inherit', ['ci', ...quiet]);
  if (status !== 0) {
    const kept = place === root ? '' : ' The packages that were here before are untouched.';
    fail(
      (unreachable === null
        ? 'npm ci failed; see above. Check the network and the free space on the disk, and try again.'
        : 'npm has not kept all of the packages. Connect this machine to the network and try again. ' +
          'Behind a proxy, set HTTPS_PROXY=http://<proxy>:<port> first.') + kept,
    );
  }
  const node = await downloading;
  if (node === null) rebuildNode(place);
  else putInPlace(node, place);
  if (place === beside) swapIn();
  process.off('SIGINT', stop).off('SIGTERM', stop);
  if (isStart) say('2/2 Starting the assistant …');
}

/** Copies what `npm ci` reads; false where node_modules is mounted, or packages come from outside of this folder. */
function layOutBeside() {
  if (statSync(join(root, 'node_modules')).dev !== statSync(root).dev) return false;
  const places = Object.keys(packages).filter((path) => !path.includes('node_modules'));
  const manifests = places.map((path) => join(path, 'package.json'));
  const archives = Object.values(packages).flatMap(({ resolved }) =>
    resolved?.startsWith('file:') ? [normalize(resolved.slice('file:'.length))] : [],
  );
  const needed = [...manifests, ...archives];
  if (needed.some((path) => path.startsWith('..') || path.startsWith('/'))) return false;
  rmSync(beside, { recursive: true, force: true });
  for (const path of ['package-lock.json', '.npmrc', ...needed]) {
    if (existsSync(join(root, path))) cpSync(join(root, path), join(beside, path));
  }
  return true;
}

/** Both renames are undone or finished: the next start puts back what a kill between them left aside. */
function swapIn() {
  const current = join(root, 'node_modules');
  renameSync(current, replaced);
  try {
    renameSync(join(beside, 'node_modules'), current);
  } catch (error) {
    renameSync(replaced, current);
    throw error;
  }
}

/**
 * Downloads what the install script of the package `node` would: the package with this platform's program.
 *
 * @param {string} folder @param {string[]} quiet
 * @returns {Promise<string | null>} the program; null if the install script has to do it
 */
async function downloadNode(folder, quiet) {
  const locked = packages['node_modules/node'];
  // A package from a file has an install script of its own.
  if (locked === undefined || locked.resolved?.startsWith('file:')) return null;
  const platform = `${process.platform}-${process.arch}`;
  const name = platform === 'darwin-arm64' ? `node-bin-${platform}` : `node-${platform}`;
  // Settings of this project, such as its registry, count for this package too.
  if (existsSync(join(root, '.npmrc'))) {
    copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'));
  }
  writeFileSync(join(folder, 'package.json'), '{}');
  const status = await run(folder, 'ignore', ['install', `${name}@${locked.version}`, ...quiet]);
  const program = join(folder, 'node_modules', name, 'bin/node');
  return status === 0 && existsSync(program) ? program : null;
}

/** @param {string} place a folder with node_modules */
function nodeOf(place) {
  return join(place, 'node_modules/node/bin/node');
}

/** @param {string} program @param {string} place */
function putInPlace(program, place) {
  const target = nodeOf(place);
  mkdirSync(dirname(target), { recursive: true });
  try {
    renameSync(program, target);
  } catch {
    // On another file system. Renamed last, so that a half copied program is never run.
    copyFileSync(program, `${target}.new`);
    renameSync(`${target}.new`, target);
  }
  // npm links only programs that are there when it installs a package; npm scripts run this one.
  const link = join(place, 'node_modules/.bin/node');
  mkdirSync(dirname(link), { recursive: true });
  if (!existsSync(link)) symlinkSync('../node/bin/node', link);
}

/**
 * Has npm run the install script of the package `node`, which package.json approves by name.
 *
 * @param {string} place
 */
function rebuildNode(place) {
  const args = ['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: place, stdio: ['ignore', 2, 2] });
  if (status !== 0) fail('npm rebuild node failed; see above. Check the network and try again.');
  if (!existsSync(nodeOf(place))) {
    fail(
      'npm did not install Node. Remove node_modules and try again, with install scripts allowed.',
    );
  }
}

/** A first proof would spend most of its time on this. The outcome does not matter here. */
function runFirstChecks() {
  say('Checking the types once, so that the first proof is fast …');
  const script = join(root, 'scripts/first-checks.ts');
  spawnSync(pinned, [script, '--if-needed'], { cwd: root, stdio: 'ignore' });
}

/**
 * Runs npm; its exit code.
 *
 * @param {string} cwd @param {'inherit' | 'ignore'} output @param {string[]} args
 * @returns {Promise<number | null>}
 */
function run(cwd, output, args) {
  const shown = output === 'inherit' ? 2 : output;
  return new Promise((resolve) => {
    const child = spawn('npm', args, { cwd, stdio: ['ignore', shown, shown] });
    child.on('error', () => resolve(null));
    child.on('close', resolve);
  });
}

/** @param {string} text */
function say(text) {
  process.stderr.write(`${text}\n`);
}

/** @param {string} message @returns {never} */
function fail(message) {
  say(message);
  process.exit(1);
}
