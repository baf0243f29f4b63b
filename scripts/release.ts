// Makes a release of this folder: `npm run release -- 0.2.0 | patch | minor | major [--tested] [--dry-run]`.
//
// It looks whether everything is committed, runs the checks and all tests (`--tested`: they have passed on this very
// commit), sets the versions, writes the changelogs from changes/, commits, tags and packs. It pushes nothing.
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import semver from 'semver';
import { parse } from 'yaml';
import { z } from 'zod';
import { type Change, listsOf, readChange, waitsFor, withRelease } from './release/changelog.ts';

const root = process.cwd();
const CHANGELOG = 'CHANGELOG.md';
/** Folders in `packages/`, which have the version of the whole. */
const PACKAGES = ['claw', 'merge'];
const Package = z.looseObject({ version: z.string() });
const Migrations = z.array(
  z.looseObject({ path_map: z.record(z.string(), z.string()).default({}) }),
);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean', default: false },
    tested: { type: 'boolean', default: false },
  },
});

try {
  await release();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function release(): Promise<void> {
  const present = Package.parse(JSON.parse(read('package.json'))).version;
  const tags = (await git('tag', '--list', 'v*'))
    .split('\n')
    .filter((tag) => semver.valid(tag) !== null);
  const last = semver.rsort(tags)[0] ?? null;
  const version = versionOf(positionals[0], present);
  if (last !== null && !semver.gt(version, last))
    throw new Error(
      `${version} does not come after ${last}. Name a later version, or patch, minor or major.`,
    );
  const changes = globSync('changes/*.md', { cwd: root })
    .filter((path) => path !== 'changes/README.md')
    .sort()
    .map((path) => readChange(path, read(path)));
  const files = changedFiles(version, changes);
  for (const warning of await undeclaredMoves(last)) console.log(warning);
  if (values['dry-run']) {
    for (const [path, text] of files)
      if (path.endsWith(CHANGELOG)) console.log(`${path}\n\n${newestOf(text)}`);
    console.log(
      `Nothing is changed: this shows release ${version}, of ${changes.length} files in changes/.`,
    );
    return;
  }
  const open = await git('status', '--porcelain');
  if (open !== '') throw new Error(`Not everything is committed:\n${open}`);
  if (!values.tested) {
    await run('npm', 'run', 'check');
    await run('npm', 'run', 'test:all');
  }
  for (const [path, text] of files) writeFileSync(join(root, path), text);
  for (const { path } of changes) rmSync(join(root, path));
  await git('add', '--all');
  await git('commit', '--quiet', '--allow-empty', '--message', `release: ${version}`);
  await git('tag', '--annotate', `v${version}`, '--message', `Patchclaw ${version}`);
  await run('npm', 'run', 'build:packages');
  console.log(
    `Release ${version} is committed, tagged and packed here. To publish it:\n  git push origin HEAD v${version}`,
  );
}

/** Returns the version that is meant; the present one, where no release has it yet, is meant by its number. */
function versionOf(word: string | undefined, present: string): string {
  if (word === 'patch' || word === 'minor' || word === 'major')
    return semver.inc(present, word) ?? present;
  const version = semver.valid(word);
  if (version === null)
    throw new Error('Say which release: npm run release -- 0.2.0, or patch, minor or major.');
  return version;
}

/** Returns the new texts of the files that a release changes, by path. */
function changedFiles(version: string, changes: readonly Change[]): ReadonlyMap<string, string> {
  const date = new Date().toISOString().slice(0, 10);
  const files = new Map<string, string>();
  const packages = PACKAGES.filter((name) => existsSync(join(root, 'packages', name)));
  for (const path of ['package.json', ...packages.map((name) => `packages/${name}/package.json`)]) {
    files.set(path, withVersion(read(path), version));
  }
  const lock = JSON.parse(read('package-lock.json'));
  lock.version = version;
  for (const place of ['', ...packages.map((name) => `packages/${name}`)]) {
    const itsOwn = lock.packages[place];
    lock.packages[place] = JSON.parse(withVersion(JSON.stringify(itsOwn), version));
  }
  files.set('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
  for (const name of packages) {
    const path = join('packages', name, CHANGELOG);
    const lists = listsOf(changes.filter((change) => change.package === name));
    const text = read(path);
    if (lists !== '' || waitsFor(text, version))
      files.set(path, withRelease(text, { version, date, lists }));
  }
  const own = changes.filter((change) => (change.skill ?? change.package) === undefined);
  files.set(CHANGELOG, withRelease(read(CHANGELOG), { version, date, lists: listsOf(own) }));
  const begun = globSync('skills/*/CHANGELOG.md', { cwd: root }).map((path) =>
    basename(dirname(path)),
  );
  for (const skill of new Set([
    ...begun.sort(),
    ...changes.flatMap((change) => change.skill ?? []),
  ])) {
    const folder = join('skills', skill);
    if (!existsSync(join(root, folder)))
      throw new Error(`changes/ names the skill ${skill}, which skills/ does not have.`);
    const path = join(folder, CHANGELOG);
    const text = existsSync(join(root, path)) ? read(path) : `# Changelog of ${skill}\n`;
    const itsOwn = z
      .looseObject({ version: z.string() })
      .parse(parse(read(join(folder, 'manifest.yaml'))));
    const lists = listsOf(changes.filter((change) => change.skill === skill));
    if (lists !== '' || waitsFor(text, itsOwn.version))
      files.set(path, withRelease(text, { version: itsOwn.version, date, lists }));
  }
  return files;
}

/** Sets the version of a package.json, and of the packages beside it where it names their version. */
function withVersion(text: string, version: string): string {
  return text
    .replace(/("version":\s*)"[^"]*"/, `$1"${version}"`)
    .replaceAll(/("@patchclaw\/\w+":\s*)"[^"]*"/g, `$1"${version}"`);
}

/** Names files that moved since the last release and that `migrations.yaml` does not tell `claw update` of. */
async function undeclaredMoves(last: string | null): Promise<readonly string[]> {
  if (last === null) return [];
  const known = existsSync(join(root, 'migrations.yaml'))
    ? Migrations.parse(parse(read('migrations.yaml')) ?? [])
    : [];
  const declared = known.flatMap(({ path_map }) => Object.keys(path_map));
  const renamed = await git(
    'diff',
    '--name-status',
    '--find-renames',
    '--diff-filter=R',
    '-z',
    last,
    'HEAD',
    '--',
    'src',
    'container',
  );
  const [...parts] = renamed.split('\0');
  const moves = parts.flatMap((part, at) =>
    /^R\d/.test(part) ? [[parts[at + 1] ?? '', parts[at + 2] ?? ''] as const] : [],
  );
  return moves
    .filter(([from]) => !declared.some((path) => from === path || from.startsWith(`${path}/`)))
    .map(
      ([from, to]) =>
        `${from} moved to ${to}: say so in migrations.yaml (path_map), so that no update has to guess.`,
    );
}

/** Returns the newest section of a changelog. */
function newestOf(changelog: string): string {
  return changelog.split(/^(?=## )/m)[1] ?? '';
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await execa('git', args, { cwd: root });
  return stdout.trim();
}

async function run(file: string, ...args: readonly string[]): Promise<void> {
  await execa(file, args, { cwd: root, stdio: 'inherit' });
}
