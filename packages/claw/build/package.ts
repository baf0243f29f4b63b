import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { bundle, ENTRIES } from './bundle.ts';
import { writeTypes } from './types.ts';

const HOME = join(import.meta.dirname, '../../..');

/** The oldest Node that the package runs on: the first whose SQLite needs no flag. */
export const OLDEST_NODE = '22.13.0';

/** Files of ours that the package is made of; the list is what a test holds it to. */
export type Built = { readonly inputs: readonly string[] };

/** A package that is published: what it is built of, and the program that it brings. */
type Published = {
  readonly name: string;
  readonly entries: Readonly<Record<string, string>>;
  readonly program: { readonly name: string; readonly file: string; readonly text: string };
};

/**
 * Builds a package of `packages/` into an empty folder: plain JavaScript without dependencies, types, and its program.
 *
 * @param which the folder in `packages/`
 */
export async function buildPackage(folder: string, which: 'claw' | 'merge'): Promise<Built> {
  const published = PUBLISHED[which];
  const { name, entries, program } = published;
  const metafile = await bundle({
    home: HOME,
    outdir: join(folder, 'lib'),
    stamp: digestOfSources(),
    entries,
  });
  const inputs = Object.keys(metafile.inputs);
  writeTypes(HOME, join(folder, 'types'), `${which}/src/index.d.ts`);
  writeFileSync(join(folder, program.file), program.text);
  chmodSync(join(folder, program.file), 0o755);
  const { version, license, description } = own(which);
  const manifest = {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: `>=${OLDEST_NODE}` },
    bin: { [program.name]: program.file },
    exports: {
      '.': { types: `./types/${which}/src/index.d.ts`, default: './lib/index.js' },
      './package.json': './package.json',
    },
    files: [program.file, 'lib', 'types', 'CHANGELOG.md', 'LICENSES-OF-PARTS.txt'],
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of ['README.md', 'CHANGELOG.md']) {
    copyFileSync(join(HOME, 'packages', which, file), join(folder, file));
  }
  copyFileSync(join(HOME, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'LICENSES-OF-PARTS.txt'), licences(metafile));
  return { inputs: inputs.filter((path) => !path.startsWith('node_modules/')) };
}

/** Packs a built folder. @returns the path of the tarball */
export function packPackage(folder: string, out: string): string {
  const args = ['pack', folder, '--pack-destination', out, '--json', '--ignore-scripts'];
  const printed = execFileSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [{ filename }] = JSON.parse(printed) as [{ filename: string }];
  return join(out, filename);
}

const NODE_IS_NEW_ENOUGH = `import { readFileSync } from 'node:fs';
import module from 'node:module';

const { name, version, engines } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const oldest = engines.node.replace('>=', '');
const [major, minor] = process.versions.node.split('.').map(Number);
const [needed, atLeast] = oldest.split('.').map(Number);
if (major < needed || (major === needed && minor < atLeast)) {
  process.stderr.write(\`\${name} needs Node \${oldest} or newer; this is \${process.versions.node}.\\n\`);
  process.exit(1);
}
module.enableCompileCache?.();
`;

const CLAW = `#!/usr/bin/env node
${NODE_IS_NEW_ENOUGH}const { main } = await import('./lib/claw.js');
process.exitCode = await main(process.argv.slice(2), { version, beside: null });
`;

const MERGE = `#!/usr/bin/env node
${NODE_IS_NEW_ENOUGH}const { runRaw } = await import('./lib/git.js');
const code = await runRaw(process.argv.slice(2));
if (code === null) {
  process.stderr.write(\`patchclaw-merge \${version}
usage: patchclaw-merge merge-file <file> <base> <other>   as git merge-file; -h lists its options
       patchclaw-merge merge-driver run %O %A %B %L %P     as a merge driver of git\\n\`);
}
process.exitCode = code ?? 2;
`;

const PUBLISHED: Readonly<Record<'claw' | 'merge', Published>> = {
  claw: {
    name: '@patchclaw/claw',
    entries: { index: ENTRIES.index, claw: ENTRIES.claw },
    program: { name: 'claw', file: 'claw.js', text: CLAW },
  },
  merge: {
    name: '@patchclaw/merge',
    entries: { index: 'packages/merge/src/index.ts', git: 'packages/merge/src/git/raw.ts' },
    program: { name: 'patchclaw-merge', file: 'merge.js', text: MERGE },
  },
};

function own(which: string): Record<'version' | 'description' | 'license', string> {
  return JSON.parse(readFileSync(join(HOME, 'packages', which, 'package.json'), 'utf8'));
}

/** Caches are named by it. */
function digestOfSources(): string {
  const args = ['ls-files', '-z', 'packages/merge/src', 'packages/claw/src'];
  const files = execFileSync('git', args, { cwd: HOME }).toString('utf8').split('\0');
  const hash = createHash('sha256');
  for (const file of files) {
    if (file !== '' && existsSync(join(HOME, file))) hash.update(readFileSync(join(HOME, file)));
  }
  return hash.digest('hex');
}

/** Returns the licences of the packages that are part of the bundle. */
function licences({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap((path) => {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
    return folder === undefined ? [] : [folder];
  });
  const all = [...new Set([...folders, 'node_modules/@babel/parser'])].sort();
  return all.map((folder) => licenceOf(join(HOME, folder))).join('\n');
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Record<string, string>;
  const file = ['LICENSE', 'LICENSE.md', 'license', 'LICENCE', 'LICENSE.txt']
    .map((one) => join(folder, one))
    .find(existsSync);
  const text = file === undefined ? `License: ${license}\n` : readFileSync(file, 'utf8');
  return `## ${name ?? basename(dirname(folder))} ${version}\n\n${text}`;
}
