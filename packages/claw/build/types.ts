import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** In the packed types it has no package of its own. */
const MERGE = 'merge/src/index.ts';
const IMPORTS = /(from |import\()(['"])([^'"]+)\2/g;

/**
 * Writes the declarations that a package's index leads to, with those of zod where the data of results is described
 * in it: the package needs no other.
 *
 * @param index relative to `packages/`, such as `claw/src/index.d.ts`
 */
export function writeTypes(home: string, folder: string, index: string): void {
  const made = mkdtempSync(join(tmpdir(), 'claw-types-'));
  try {
    const config = join(made, 'tsconfig.json');
    writeFileSync(config, JSON.stringify(configOf(home, made)));
    const tsc = join(home, 'node_modules/.bin/tsc');
    const run = spawnSync(process.execPath, [tsc, '-p', config], { encoding: 'utf8' });
    if (run.status !== 0) throw new Error(`tsc: ${run.stdout.slice(0, 2000)}${run.stderr}`);
    const zod = join(folder, 'zod');
    const needsZod = copyReachable(join(made, 'out'), { to: folder, index, zod });
    if (needsZod) copyDeclarations(join(home, 'node_modules/zod/v4'), zod);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function configOf(home: string, made: string) {
  return {
    extends: join(home, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(home, 'packages'),
      outDir: join(made, 'out'),
      typeRoots: [join(home, 'node_modules/@types')],
      removeComments: false,
      // Of what is found in node_modules no declarations are made, also where it is only linked there, and the compiler
      // reads files side by side: which of two ways it found a file by first would be chance.
      paths: { '@patchclaw/merge': [join(home, 'packages/merge/src/index.ts')] },
    },
    include: [],
    files: ['claw', 'merge'].map((name) => join(home, 'packages', name, 'src/index.ts')),
  };
}

/** Copies what the index imports, and what that imports. @returns whether any of it imports zod */
function copyReachable(
  from: string,
  { to, index, zod }: { readonly to: string; readonly index: string; readonly zod: string },
): boolean {
  let needsZod = false;
  const waiting = [index];
  const seen = new Set(waiting);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const target = join(to, file);
    const folder = dirname(file);
    const text = readFileSync(join(from, file), 'utf8').replace(
      IMPORTS,
      (all, before: string, quote: string, name: string) => {
        if (name === 'zod') {
          needsZod = true;
          const path = relative(dirname(target), join(zod, 'classic/index.js'));
          return `${before}${quote}${path}${quote}`;
        }
        const path = name === '@patchclaw/merge' ? relative(folder, MERGE) : name;
        if (!path.startsWith('.')) return all;
        const next = join(folder, path).replace(/\.(ts|js)$/, '.d.ts');
        if (!seen.has(next)) waiting.push(next);
        seen.add(next);
        return `${before}${quote}${path.replace(/\.ts$/, '.js')}${quote}`;
      },
    );
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  return needsZod;
}

function copyDeclarations(from: string, to: string): void {
  for (const part of ['classic', 'core', 'locales']) {
    const folder = join(from, part);
    if (!existsSync(folder)) throw new Error(`zod has no ${part}`);
    const files = readdirSync(folder).filter((name) => name.endsWith('.d.ts'));
    for (const name of files) cpSync(join(folder, name), join(to, part, name));
  }
}
