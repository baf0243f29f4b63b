/**
 * The `claw` command as one file. Finding and loading some hundred modules takes longer than most
 * commands do, so what a run from the sources loaded is kept joined, beside Node's compile cache. It is
 * a cache and no build: it counts only while every source it was made of is untouched, as git's index
 * tells a file, and without it the sources run. On Node's built-ins alone, but for the making.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @typedef {{ home: string, node: string, bundle: string, stamps: Record<string, string> }} Index */

const ENTRY = 'src/cli/main.ts';
const INDEX = 'bundle.json';
/** What every command loads; other packages are left where they are, for the few that need them. */
const INLINED = ['commander', 'ignore', 'jsonc-parser', 'semver', 'yaml', 'zod'];
/** Sources younger than this are being worked on, and would only be joined again at once. */
const QUIESCENT_MS = 10_000;

/**
 * The address of a bundle that is what the sources are, or null.
 *
 * @param {string} home the folder that `src/` lies in
 * @param {string} cache
 * @returns {string | null}
 */
export function findBundle(home, cache) {
  try {
    /** @type {Index} */
    const index = JSON.parse(fs.readFileSync(join(cache, INDEX), 'utf8'));
    const { node, bundle, stamps } = index;
    if (index.home !== home || node !== process.version) return null;
    const isFresh = Object.entries(stamps).every(
      ([path, stamp]) => stampOf(`${home}/${path}`) === stamp,
    );
    return isFresh ? pathToFileURL(join(cache, bundle)).href : null;
  } catch {
    return null; // Absent, torn, or a source is gone: the sources tell.
  }
}

/**
 * Joins the sources for the next command. Never throws: without a bundle it only starts later.
 *
 * @param {string} home @param {string} cache @param {number} [nowMs]
 */
export async function makeBundle(home, cache, nowMs = Date.now()) {
  try {
    // Behind a link the packages are somebody else's, and so is what lies beside them.
    if (fs.lstatSync(join(home, 'node_modules')).isSymbolicLink()) return;
    fs.mkdirSync(cache, { recursive: true });
    fs.accessSync(cache, fs.constants.W_OK);
    // A file that was written while it was read would look fresh, and be in the bundle as it was before.
    const isQuiescent = (/** @type {string} */ path) =>
      changedMs(join(home, path)) < nowMs - QUIESCENT_MS;
    if (!sourcesOf(home).every(isQuiescent)) return;
    const { text, sources } = await joinSources(home);
    const name = `bundle-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.mjs`;
    replace(join(cache, name), text);
    const paths = [...sources, relative(home, join(cache, name))];
    const stamps = Object.fromEntries(paths.map((path) => [path, stampOf(join(home, path))]));
    if (!sources.every(isQuiescent)) return;
    replace(
      join(cache, INDEX),
      JSON.stringify({ home, node: process.version, bundle: name, stamps }),
    );
    sweep(cache, name);
  } catch {
    // Read-only, full, no esbuild for this machine, or a source that does not parse.
  }
}

/** @param {string} home */
function sourcesOf(home) {
  return fs
    .readdirSync(join(home, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name))
    .map((name) => `src/${name}`);
}

/** @param {string} home */
async function joinSources(home) {
  const { build } = await import('esbuild');
  const { dependencies } = JSON.parse(fs.readFileSync(join(home, 'package.json'), 'utf8'));
  const { outputFiles, metafile } = await build({
    absWorkingDir: home,
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // A package in the older of two forms finds its own parts at run time, where they are not.
    mainFields: ['module', 'main'],
    logLevel: 'silent',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    plugins: [
      { name: 'places', setup: keepPlaces },
      { name: 'locales', setup: leaveLocales },
      { name: 'others', setup: (build) => loadWhenNeeded(build, Object.keys(dependencies)) },
    ],
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error('esbuild made nothing');
  const sources = Object.keys(metafile.inputs).filter((path) => !/^(builtin|package):/.test(path));
  return { text: output.text, sources };
}

/**
 * Every module goes on knowing where it lies, and so what lies beside it.
 *
 * @param {import('esbuild').PluginBuild} build
 */
function keepPlaces(build) {
  build.onLoad({ filter: /\/src\/.*\.[jt]s$/ }, ({ path }) => {
    const text = fs.readFileSync(path, 'utf8');
    const places = { url: pathToFileURL(path).href, dirname: join(path, '..'), filename: path };
    const contents = text.replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, name) =>
      JSON.stringify(places[/** @type {keyof typeof places} */ (name)]),
    );
    return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
  });
}

/**
 * The schema library brings its messages in some fifty languages; English comes by another way.
 *
 * @param {import('esbuild').PluginBuild} build
 */
function leaveLocales(build) {
  build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {};' }));
}

/**
 * Node's own modules and the packages that are not joined are loaded by the first module that needs
 * them; a static import would load all of them at the start, for verbs that are not asked for.
 *
 * @param {import('esbuild').PluginBuild} build @param {readonly string[]} packages
 */
function loadWhenNeeded(build, packages) {
  const childProcess = process.getBuiltinModule('node:child_process');
  const others = packages.filter((name) => !INLINED.includes(name));
  const isOther = (/** @type {string} */ path) =>
    others.some((name) => path === name || path.startsWith(`${name}/`));
  build.onResolve({ filter: /^[^./]/ }, ({ path, kind, namespace }) => {
    if (kind === 'import-statement' && path.startsWith('node:'))
      return { path, namespace: 'builtin' };
    if (!isOther(path)) return null;
    const isLate = kind === 'dynamic-import' || namespace === 'package';
    return isLate ? { path, external: true } : { path, namespace: 'package' };
  });
  build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
    const load = `process.getBuiltinModule(${JSON.stringify(path)})`;
    if (path !== 'node:child_process') return { contents: `module.exports = ${load};` };
    // It brings half of Node's network with it, and most verbs start no process.
    const names = JSON.stringify(Object.keys(childProcess));
    const getter = `{ enumerable: true, get: () => ${load}[name] }`;
    return {
      contents: `for (const name of ${names}) Object.defineProperty(exports, name, ${getter});`,
    };
  });
  build.onLoad({ filter: /.*/, namespace: 'package' }, ({ path }) => {
    return { contents: `module.exports = require(${JSON.stringify(path)});` };
  });
}

/** @param {string} path @param {string} text */
function replace(path, text) {
  const draft = `${path}.${process.pid}`;
  fs.writeFileSync(draft, text);
  fs.renameSync(draft, path);
}

/** Whoever is running an older bundle has read it. @param {string} cache @param {string} kept */
function sweep(cache, kept) {
  for (const name of fs.readdirSync(cache)) {
    if (/^bundle-.*\.mjs/.test(name) && name !== kept)
      fs.rmSync(join(cache, name), { force: true });
  }
}

/** @param {string} path */
function stampOf(path) {
  const { size, mtimeMs, ctimeMs, ino } = fs.statSync(path);
  return `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
}

/** @param {string} path */
function changedMs(path) {
  const { mtimeMs, ctimeMs } = fs.statSync(path);
  return Math.max(mtimeMs, ctimeMs);
}
