// Packages of many small modules, as one file each: reading zod's 95 and yaml's 72 modules alone takes longer than
// most commands. `scripts/prepare.js` makes the files; where one is missing, the package itself is read.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const NAMES = ['commander', 'jsonc-parser', 'semver', 'yaml', 'zod'];
/** What Node adds to the names of a package that is no module. */
const MARKS = /^(default|module\.exports|__esModule)$/;
const FOLDER = 'node_modules/.cache/patchclaw/packages';
/** Raised where the files are made in another way than before. */
const FORM = 3;

/**
 * Makes what is missing, with esbuild.
 *
 * @param {string} home
 */
export async function makeOneFilePackages(home) {
  for (const name of NAMES) {
    const file = fileOf(home, name);
    if (file === null || existsSync(file)) continue;
    const { build } = await import('esbuild');
    const names = Object.keys(await import(name));
    const plain = names.filter((each) => !MARKS.test(each));
    const made = await build({
      stdin: {
        contents: `import * as all from '${name}'; export const { ${plain.join(', ')} } = all;`,
        resolveDir: home,
      },
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      // Without comments a third of the text is left, and none of it is beyond ASCII, which takes twice the room.
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 120,
      // In its older form jsonc-parser looks for its parts beside itself when it runs.
      mainFields: ['module', 'main'],
      plugins: [
        { name: 'locales', setup: leaveOutLocales },
        { name: 'programs', setup: startProgramsLater },
        { name: 'builtins', setup: takeBuiltinsAsTheyAre },
      ],
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    });
    mkdirSync(join(home, FOLDER), { recursive: true });
    writeFileSync(`${file}.${process.pid}`, made.outputFiles[0]?.contents ?? '');
    renameSync(`${file}.${process.pid}`, file);
  }
}

/**
 * Leaves out zod's messages in some fifty languages, half of it. The English ones have another way.
 *
 * @param {import('esbuild').PluginBuild} build
 */
function leaveOutLocales(build) {
  build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {};' }));
}

/**
 * Lets commander have what starts programs when it starts one, which claw's never does: loading that takes as long
 * as thirty modules.
 *
 * @param {import('esbuild').PluginBuild} build
 */
function startProgramsLater(build) {
  const late = { path: 'child_process', namespace: 'late' };
  build.onResolve({ filter: /^node:child_process$/ }, () => late);
  build.onLoad({ filter: /^/, namespace: 'late' }, () => ({
    contents:
      "export default { get spawn() { return process.getBuiltinModule('child_process').spawn; } };",
  }));
}

/**
 * Lets a package have a module of Node's as `require` gives it: an import reads every name of it, and so makes
 * the streams of standard input, and what decodes texts in workers.
 *
 * @param {import('esbuild').PluginBuild} build
 */
function takeBuiltinsAsTheyAre(build) {
  build.onResolve({ filter: /^node:(process|util)$/ }, ({ path }) => ({
    path,
    namespace: 'plain',
  }));
  build.onLoad({ filter: /^/, namespace: 'plain' }, ({ path }) => ({
    contents: `module.exports = process.getBuiltinModule('${path}');`,
  }));
}

/**
 * Lets the modules of `src/` have these packages from their one file.
 *
 * @param {string} home
 */
export function useOneFilePackages(home) {
  /** @type {Map<string, string>} */
  const urls = new Map();
  for (const name of NAMES) {
    const file = fileOf(home, name);
    if (file !== null && existsSync(file)) urls.set(name, pathToFileURL(file).href);
  }
  if (urls.size === 0) return;
  const own = pathToFileURL(join(home, 'src/')).href;
  module.registerHooks?.({
    resolve(name, context, next) {
      const url = context.parentURL?.startsWith(own) ? urls.get(name) : undefined;
      if (url === undefined) return next(name, context);
      return { url, format: 'module', shortCircuit: true };
    },
  });
}

/**
 * Names the file by the version that is installed, so that another one never has it.
 *
 * @param {string} home @param {string} name @returns {string | null} null where it is not installed
 */
function fileOf(home, name) {
  try {
    const text = readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8');
    return join(home, FOLDER, `${name}-${JSON.parse(text).version}-${FORM}.js`);
  } catch {
    return null; // What needs the package says so itself.
  }
}
