import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import configuration from '../.dependency-cruiser.js';
import { temporaryCodebase } from '../src/testing/claw/codebase.ts';

const HOME = join(import.meta.dirname, '..');

test('an import that the map forbids fails the check, and names the rule', async () => {
  await using codebase = temporaryCodebase({
    'package.json': '{ "type": "module" }',
    'src/host/host.ts':
      "import { merge } from '../../packages/merge/src/merge-lines.ts';\nmerge();\n",
    'packages/merge/src/merge-lines.ts':
      "import { store } from '../../../src/store/store.ts';\nexport const merge = () => store;\n",
    'packages/claw/src/errors.ts':
      "import { merge } from '../../merge/src/merge-lines.ts';\nexport const error = merge;\n",
    'src/store/store.ts': 'export const store = 1;\n',
    'src/lib/one.ts':
      "import type { Other } from './other.ts';\nexport type One = { readonly other: Other };\n",
    'src/lib/other.ts':
      "import type { One } from './one.ts';\nexport type Other = { readonly one: One };\n",
    'packages/claw/src/transaction/recover.js':
      "import semver from 'semver';\nsemver.valid('1');\n",
  });
  cpSync(join(HOME, '.dependency-cruiser.js'), codebase.path('.dependency-cruiser.js'));
  symlinkSync(join(HOME, 'node_modules'), codebase.path('node_modules'));
  const run = await promisify(execFile)(
    process.execPath,
    [
      join(HOME, 'node_modules/.bin/depcruise'),
      'packages',
      'src',
      '--config',
      '.dependency-cruiser.js',
    ],
    { cwd: codebase.root },
  ).catch((error: { stdout: string; code: number }) => error);
  expect(run).toMatchObject({ code: 5 });
  for (const rule of [
    'host',
    'claw-alone',
    'merge-pure',
    'recover-builtins-only',
    // Of types alone.
    'no-circular',
  ]) {
    expect(run.stdout).toContain(`error ${rule}:`);
  }
});

/** Rooms that are given the time, chance and the owner's folder, so that their tests decide on them. */
const GIVEN =
  'channels commands guards host http inbound-filters prompt sandbox services store tools'.split(
    ' ',
  );
const TAKEN = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bhomedir\b/;

test('no channel, sandbox or other part of the host takes time, chance or the home folder by itself', () => {
  const inRooms = productFiles().filter((file) => GIVEN.some((room) => isIn(file, `src/${room}`)));
  expect(new Set(inRooms.map((file) => file.split('/')[1]))).toEqual(new Set(GIVEN));
  const taking = inRooms.filter((file) => TAKEN.test(readFileSync(join(HOME, file), 'utf8')));
  expect(taking).toEqual([]);
});

test('the table of ARCHITECTURE.md says of each module what the configuration lets it import', () => {
  const files = productFiles();
  const rows = readTable();
  for (const { modules, mayImport } of rows) {
    for (const module of modules) {
      const from = sampleOf(module);
      const others = files.filter((file) => file !== from);
      const places = [module, ...mayImport].map(pathOf);
      const said = others.filter((file) => places.some((place) => isIn(file, place)));
      expect(said, module).toEqual(others.filter((file) => isAllowed(from, file)));
    }
  }
  const withRow = rows.flatMap(({ modules }) => modules.map(pathOf));
  const without = files.filter((file) => !withRow.some((place) => isIn(file, place)));
  const ruled = without.filter((file) => rulesFor(file).some(({ name }) => name !== 'claw-alone'));
  expect(ruled).toEqual([]);
});

function productFiles(): readonly string[] {
  const all = ['packages/merge/src', 'packages/claw/src', 'src', 'container/agent'].flatMap(
    (folder) =>
      readdirSync(join(HOME, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `${folder}/${path}`,
      ),
  );
  return all.filter((path) => /(?<!\.test)\.(ts|js)$/.test(path)).sort();
}

/** Reads the rows: all that is in backquotes, up to a `;`, and the two words that stand for several files. */
function readTable() {
  const text = readFileSync(join(HOME, 'ARCHITECTURE.md'), 'utf8');
  const [, table = ''] = text.split('| module | may import |\n|---|---|\n');
  const meanings = ['values', 'settings'].map((word) => {
    const [, meant = ''] = new RegExp(`\\*${word}\\* are ([^;]*?)[;.]\\s`, 's').exec(text) ?? [];
    return [`*${word}*`, meant] as const;
  });
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n');
  return rows.map((row) => {
    const [, modules = '', others = ''] = row.split('|');
    const whole = meanings.reduce((cell, [word, meant]) => cell.replace(word, meant), others);
    const cell = whole.replace('each other', modules).split(';')[0] ?? '';
    return { modules: namesIn(modules), mayImport: namesIn(cell) };
  });
}

/** `a/{b,c}.ts` is two names. */
function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) => {
    const [, head = '', list = '', tail = ''] = /^(.*)\{(.*)\}(.*)$/.exec(name) ?? [];
    return list === '' ? [name] : list.split(',').map((one) => head + one + tail);
  });
}

/** The rooms of the packages stand in the table by the name of their package. */
function pathOf(name: string): string {
  const [, folder = '', rest = ''] = /^(merge|claw)(\/.*)?$/.exec(name) ?? [];
  if (folder !== '') return `packages/${folder}/src${rest}`;
  return name.startsWith('container/') ? name : `src/${name}`;
}

const isIn = (file: string, place: string) => file === place || file.startsWith(`${place}/`);
const sampleOf = (module: string) =>
  /\.\w+$/.test(module) ? pathOf(module) : `${pathOf(module)}/a-new-file.ts`;

type OnlyRule = {
  readonly name: string;
  readonly from: { readonly path?: string };
  readonly to: { readonly path?: string; readonly pathNot?: string };
};

/** The rules that name all that a module may import. */
function rulesFor(file: string): readonly OnlyRule[] {
  const rules: readonly OnlyRule[] = configuration.forbidden;
  return rules.filter(
    ({ from, to }) =>
      from.path !== undefined && to.pathNot !== undefined && new RegExp(from.path).test(file),
  );
}

const isAllowed = (from: string, file: string) =>
  rulesFor(from).every(({ to }) => new RegExp(to.pathNot ?? '').test(file));
