// Finds the engine as it was built from these very sources, or builds it. Runs before anything of the engine is loaded,
// so it uses Node's built-ins alone.
import * as fs from 'node:fs';
import { join } from 'node:path';

/** Folders and files that the engine is built of, relative to the installation. */
const SOURCES = ['packages/merge', 'packages/claw'];
const PARTS = ['src', 'build', 'package.json'];
/** Nothing of these is part of the engine. */
const OF_TESTS = /\.test\.ts$|^(testing|tests|golden)$/;
/** Builds that a command which still runs may load parts of. */
const KEPT = 3;

/**
 * Returns the folder of the engine that is built from the sources as they are now, and names it for `@patchclaw/claw`.
 * A build that is there is found by the size and time of each source; its folder is called by the digest of their text.
 *
 * @param {string} home the installation
 * @returns {Promise<{ folder: string, warning: string | null }>} absolute; the warning says why it is an older build
 * @throws {Error} where it cannot be built and no build is there
 */
export async function currentBuild(home) {
  const lib = join(home, 'packages/claw/lib');
  const sources = listSources(home);
  const stats = sources.map(({ path, stat }) => `${path} ${stat.size} ${stat.mtimeMs}`).join('\n');
  const known = readKnown(lib);
  if (known?.stats === stats) return { folder: join(lib, known.digest), warning: null };
  const digest = await digestOf(sources.map(({ path }) => `${path} ${textOf(home, path)}`));
  const folder = join(lib, digest);
  try {
    if (!fs.existsSync(folder)) await build({ home, lib, folder, digest });
  } catch (error) {
    if (known === null) throw error;
    const warning = `packages/ cannot be built: ${reasonOf(error)}. claw runs as it was built before, until that is fixed.`;
    return { folder: join(lib, known.digest), warning };
  }
  name(lib, { stats, digest });
  return { folder, warning: null };
}

/** @param {string} home @returns {{ path: string, stat: fs.Stats }[]} */
function listSources(home) {
  /** @type {{ path: string, stat: fs.Stats }[]} */
  const found = [];
  /** @param {string} path */
  const look = (path) => {
    const stat = fs.statSync(`${home}/${path}`, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (!stat.isDirectory()) {
      found.push({ path, stat });
      return;
    }
    for (const entry of fs.readdirSync(`${home}/${path}`)) {
      if (!OF_TESTS.test(entry)) look(`${path}/${entry}`);
    }
  };
  for (const folder of SOURCES) for (const part of PARTS) look(`${folder}/${part}`);
  // Libraries are built in: npm's note says which.
  look('node_modules/.package-lock.json');
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/**
 * Of npm's record, only the versions of packages that are built in count: a package that a skill brings changes
 * nothing.
 *
 * @param {string} home @param {string} path
 */
function textOf(home, path) {
  const text = fs.readFileSync(join(home, path), 'utf8');
  if (!path.startsWith('node_modules/')) return text;
  const { packages = {} } = JSON.parse(text);
  const names = SOURCES.flatMap((folder) => {
    const own = JSON.parse(fs.readFileSync(join(home, folder, 'package.json'), 'utf8'));
    return Object.keys(own.dependencies ?? {});
  });
  return names.map((one) => `${one} ${packages[`node_modules/${one}`]?.version}`).join('\n');
}

/** @param {{ home: string, lib: string, folder: string, digest: string }} place */
async function build({ home, lib, folder, digest }) {
  const { bundle, ENTRIES } = await import('./bundle.ts');
  const made = join(lib, `.${digest}-${process.pid}`);
  try {
    fs.mkdirSync(made, { recursive: true });
    await bundle({ home, outdir: made, stamp: digest, entries: ENTRIES });
    fs.renameSync(made, folder);
  } catch (error) {
    // Another command has built the same meanwhile.
    if (!fs.existsSync(folder)) throw error;
  } finally {
    fs.rmSync(made, { recursive: true, force: true });
  }
}

/** The first of esbuild's errors, or what any other says in its first line. @param {any} error */
function reasonOf(error) {
  const [first] = error.errors ?? [];
  if (first === undefined) return String(error.message ?? error).split('\n')[0];
  const { file, line } = first.location ?? {};
  return file === undefined ? first.text : `${file}:${line}: ${first.text}`;
}

/** @param {string} lib @returns {{ stats: string, digest: string } | null} */
function readKnown(lib) {
  try {
    const known = JSON.parse(fs.readFileSync(join(lib, 'current.json'), 'utf8'));
    return fs.existsSync(join(lib, known.digest, 'claw.js')) ? known : null;
  } catch {
    return null; // Nothing was built yet, or the note is damaged: it is built again.
  }
}

/**
 * Names a build: in a note for the next command, and for whoever imports `@patchclaw/claw`.
 *
 * @param {string} lib @param {{ stats: string, digest: string }} known
 */
function name(lib, known) {
  for (const entry of ['index', 'cli', 'prompts']) {
    replace(join(lib, `${entry}.js`), `export * from './${known.digest}/${entry}.js';\n`);
  }
  replace(join(lib, 'current.json'), JSON.stringify(known));
  const builds = fs
    .readdirSync(lib, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== known.digest)
    .map((entry) => ({ path: join(lib, entry.name), time: timeOf(join(lib, entry.name)) }))
    .sort((one, other) => other.time - one.time);
  for (const { path } of builds.slice(KEPT)) fs.rmSync(path, { recursive: true, force: true });
}

/** @param {string} path */
function timeOf(path) {
  return fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** @param {string} path @param {string} text */
function replace(path, text) {
  fs.writeFileSync(`${path}.${process.pid}`, text);
  fs.renameSync(`${path}.${process.pid}`, path);
}

/** @param {string[]} lines */
async function digestOf(lines) {
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32);
}
