import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Codebase, temporaryCodebase } from '../../src/testing/claw/codebase.ts';

// Skills of strangers that plug in at one place: each package, and one like it under other names. Neither way
// round do they meet in a line of the core.

const HOME = join(import.meta.dirname, '../..');
const PACKAGES = join(import.meta.dirname, 'packages');
const NAMES = readdirSync(PACKAGES).sort();
const TREE = ['bin', 'container', 'src', 'package.json', 'tsconfig.json', '.env.example'];
const SHARED = ['.env.example'];
const NOTHING_PROVEN = "check: []\ntest: 'true'\n";

type Files = Readonly<Record<string, string>>;

/** The files of a package, by their paths in it. */
function filesOf(name: string): Files {
  const all = readdirSync(join(PACKAGES, name), { recursive: true, withFileTypes: true });
  const paths = all.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name));
  return Object.fromEntries(
    paths.map((path) => [path.slice(join(PACKAGES, name).length + 1), readFileSync(path, 'utf8')]),
  );
}

/** The same package as somebody else would have written it: other names, files and settings. */
function twinOf(name: string): Files {
  const files = filesOf(name);
  const { structured } = parse(files['manifest.yaml'] ?? '');
  const settings: { name: string }[] = structured?.env_additions ?? [];
  const called = new RegExp(`(?<=['\`"])(${name}|${name.replaceAll('-', '_')})(?=['\`":/])`, 'g');
  const twin = (text: string) =>
    settings.reduce(
      (told, setting) =>
        told.replaceAll(new RegExp(`\\b${setting.name}\\b`, 'g'), (it) => `OTHER_${it}`),
      text.replaceAll(called, (it) => `other${it.includes('_') ? '_' : '-'}${it}`),
    );
  const renamed = (text: string) =>
    text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), `other-${name}`);
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path.endsWith('.ts') ? path.replaceAll(name, `other-${name}`) : path,
      path.endsWith('.ts') ? twin(text) : renamed(twin(text)),
    ]),
  );
}

/** The release with both packages of each kind in `skills/`. */
function release(): Codebase {
  const codebase = temporaryCodebase({});
  for (const part of TREE) cpSync(join(HOME, part), codebase.path(part), { recursive: true });
  symlinkSync(join(HOME, 'node_modules'), codebase.path('node_modules'));
  codebase.write({ 'claw.config.yaml': NOTHING_PROVEN, '.gitignore': 'node_modules\n' });
  for (const name of NAMES) {
    const both = { [name]: filesOf(name), [`other-${name}`]: twinOf(name) };
    for (const [skill, files] of Object.entries(both)) {
      const placed = Object.entries(files).map(([path, text]) => [`skills/${skill}/${path}`, text]);
      codebase.write(Object.fromEntries(placed));
    }
  }
  return codebase;
}

async function applyAll(codebase: Codebase, ...groups: readonly (readonly string[])[]) {
  for (const names of groups) {
    const run = await codebase.claw('apply', ...names);
    expect(run.json).toMatchObject({ error: null, outcome: 'done', conflicts: [] });
  }
  return codebase.tree();
}

const TWINS = NAMES.map((name) => `other-${name}`);

test('two skills for each place both apply, in both orders, and no file of the core is touched', async () => {
  await using first = release();
  await using second = release();
  const released = first.tree();
  const tree = await applyAll(first, NAMES, TWINS);
  expect(await applyAll(second, TWINS, NAMES)).toEqual(tree);
  const touched = Object.keys(released).filter((path) => tree[path] !== released[path]);
  expect(touched).toEqual(SHARED);
  await fitTogether(
    first,
    Object.keys(tree).filter((path) => released[path] === undefined),
  );
});

test('each is removed alone, and the others stay as they are', async () => {
  await using codebase = release();
  const tree = await applyAll(codebase, NAMES);
  for (const name of NAMES) {
    const run = await codebase.claw('remove', name);
    expect(run.json).toMatchObject({ error: null, outcome: 'done', conflicts: [], warnings: [] });
    const now = codebase.tree();
    const gone = Object.keys(tree).filter((path) => now[path] === undefined);
    const added = Object.keys(filesOf(name)).filter((path) => path.startsWith('add/'));
    expect(gone).toEqual(added.map((path) => path.slice('add/'.length)).sort());
    const changed = Object.keys(now).filter((path) => now[path] !== tree[path]);
    expect(changed).toEqual(changed.filter((path) => SHARED.includes(path)));
    expect(await applyAll(codebase, [name])).toEqual(tree);
  }
});

/** Checks the types of what came, and that the assistant finds all of it under names of its own. */
async function fitTogether(codebase: Codebase, added: readonly string[]): Promise<void> {
  const include = added.filter((path) => path.endsWith('.ts'));
  expect(include.length).toBeGreaterThanOrEqual(2 * NAMES.length);
  codebase.write({
    'tsconfig.added.json': JSON.stringify({
      extends: './tsconfig.json',
      include,
      compilerOptions: { incremental: false, tsBuildInfoFile: null },
    }),
  });
  const run = promisify(execFile);
  const inTree = { cwd: codebase.root };
  await run(join(HOME, 'node_modules/.bin/tsc'), ['--noEmit', '-p', 'tsconfig.added.json'], inTree);
  const script =
    "import { discoverContributions } from './src/contributions.ts';" +
    'const found = await discoverContributions();' +
    'console.log(Object.values(found).flat().map(({ name }) => name).join(" "));';
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await run(process.execPath, args, inTree);
  const names = stdout.trim().split(' ');
  for (const name of NAMES.filter((one) => names.includes(one))) {
    expect(names).toContain(`other-${name}`);
  }
  expect(names.filter((name) => name.startsWith('other')).length).toBeGreaterThanOrEqual(6);
}
