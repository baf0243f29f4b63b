import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { withEsbuild } from '../../lib/bundling.ts';

/** Libraries that end up in the bundle, and the one that makes it: another version is another bundle. */
const BUNDLED = [
  'ai',
  '@ai-sdk/anthropic',
  '@ai-sdk/openai-compatible',
  'esbuild',
  'yaml',
  'zod',
  'unpdf',
  '@silvia-odwyer/photon-node',
];

/** Files of libraries that a worker reads from its folder. */
const ASSETS = ['@silvia-odwyer/photon-node/photon_rs_bg.wasm'];

/** Files that the agent shares with the host, beside its own folder. */
export const SHARED = [
  'src/sandbox/protocol/endpoint.ts',
  'src/sandbox/protocol/frames.ts',
  'src/sandbox/protocol/frame-link.ts',
  'src/sandbox/protocol/protocol.ts',
  'src/lib/cut-text.ts',
  'src/lib/graphemes.ts',
  'src/lib/model-call.ts',
  'src/lib/picture-head.ts',
  'src/lib/thoughts.ts',
  'src/lib/tool-fault.ts',
  'src/lib/tool-schema.ts',
];

/**
 * Bundles the agent, unless its sources are those of the last time: into `agent.mjs`, which connects
 * and is there at once, and `turns.mjs` with all that a turn needs, which that loads after.
 *
 * The tools are the files of `container/agent/tools/`, and the sections of its prompt those of
 * `container/agent/prompt/`: the entry that lists them is written here, so that adding one is adding a file.
 *
 * The files of `container/agent/workers/` become a file each, which is read only when its work is to be done.
 *
 * @returns the folder of all, `<data>/cache/agent-<digest>`
 */
export async function bundleAgent(projectDir: string, dataDir: string): Promise<string> {
  const agentDir = join(projectDir, 'container/agent');
  const cacheDir = join(dataDir, 'cache');
  const sources = await sourceFiles(agentDir);
  const name = `agent-${await digest(projectDir, agentDir, sources)}`;
  const path = join(cacheDir, name);

  const kept: string[] = await readdir(cacheDir).catch(() => []);
  if (kept.includes(name)) return path;
  await mkdir(cacheDir, { recursive: true });
  await build(agentDir, sources, path);
  // A container that still runs an older one keeps it: its mounts hold the files, not their names.
  const older = kept.filter((file) => /^agent-[0-9a-f]+(\.mjs)?$/.test(file));
  for (const file of older) await rm(join(cacheDir, file), { recursive: true, force: true });
  return path;
}

async function sourceFiles(agentDir: string): Promise<string[]> {
  const names = await readdir(agentDir, { recursive: true });
  return names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort();
}

async function digest(
  projectDir: string,
  agentDir: string,
  sources: readonly string[],
): Promise<string> {
  const hash = createHash('sha256');
  const files = [
    ...sources.map((name) => join(agentDir, name)),
    ...SHARED.map((name) => join(projectDir, name)),
    join(projectDir, 'src/sandbox/agent-link/bundle.ts'),
  ];
  for (const file of files) {
    const bytes = await readFile(file);
    hash.update(`${basename(file)} ${bytes.length}\n`).update(bytes);
  }
  for (const name of BUNDLED) {
    const manifest = await readFile(join(projectDir, 'node_modules', name, 'package.json'), 'utf8');
    hash.update(`${name} ${versionOf(manifest)}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

function versionOf(manifest: string): string {
  const parsed: unknown = JSON.parse(manifest);
  const isNamed = typeof parsed === 'object' && parsed !== null && 'version' in parsed;
  return isNamed ? String(parsed.version) : '';
}

const ENTRY = `
  import { runAgent } from './main.ts';
  await runAgent(() => import('./turns.mjs'));`;

/** Returns a module that gives every tool file's `tool` and every section file's `section` to the agent. */
function turnsEntry(sources: readonly string[]): string {
  const tools = namedExports(sources, { folder: 'tools', name: 'tool' });
  const sections = namedExports(sources, { folder: 'prompt', name: 'section' });
  return [
    `import { serveTurns } from './serve.ts';`,
    ...tools.imports,
    ...sections.imports,
    `export const serve = (stream) => serveTurns(stream, [${tools.names}], [${sections.names}]);`,
  ].join('\n');
}

/** Returns imports of one export of each file of a folder, and the names that they get. */
function namedExports(
  sources: readonly string[],
  { folder, name }: { readonly folder: string; readonly name: string },
): { readonly imports: readonly string[]; readonly names: string } {
  const files = sources.filter(
    (path) => path.split('/').length === 2 && path.startsWith(`${folder}/`),
  );
  const imports = files.map((path, at) => `import { ${name} as ${name}${at} } from './${path}';`);
  return { imports, names: files.map((_, at) => `${name}${at}`).join(', ') };
}

async function build(agentDir: string, sources: readonly string[], path: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  const options = (contents: string, name: string): BuildOptions => ({
    ...OPTIONS,
    stdin: { contents, resolveDir: agentDir, sourcefile: 'agent.ts', loader: 'ts' },
    outfile: join(unfinished, name),
  });
  const builds = [options(ENTRY, 'agent.mjs'), options(turnsEntry(sources), 'turns.mjs')];
  for (const file of sources.filter((name) => name.startsWith('workers/'))) {
    const name = `worker-${basename(file, '.ts')}.mjs`;
    // These libraries come as small as they get, or are read seldom.
    builds.push({ ...options(`import './${file}';`, name), minify: false });
  }
  await withEsbuild((esbuild) => Promise.all(builds.map((one) => esbuild.build(one))));
  for (const asset of ASSETS) {
    await copyFile(join(agentDir, '../../node_modules', asset), join(unfinished, basename(asset)));
  }
  // Renamed when complete, so that a folder of that name is always a whole bundle.
  try {
    await rename(unfinished, path);
  } catch (error) {
    // Another process has made the same meanwhile.
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(path)) throw error;
  }
}

const OPTIONS: BuildOptions = {
  bundle: true,
  external: ['./turns.mjs'],
  format: 'esm',
  platform: 'node',
  target: 'node24',
  minify: true,
  logLevel: 'silent',
  // Some libraries still call require for Node's own modules.
  banner: {
    js: "import { createRequire as claw } from 'node:module'; const require = claw(import.meta.url), __dirname = import.meta.dirname;",
  },
};
