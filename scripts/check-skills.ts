// Checks the code of all skills as the core's is checked: it puts every skill into a copy of this tree and runs the
// type check (with the skills' tests), the import rules and the search for unused code there.
//
//   npm run check:skills
//
// The skills' packages are installed once, in node_modules/.cache/patchclaw/skills.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';

const HOME = dirname(import.meta.dirname);
// Below the project's node_modules, so that what is installed here finds the core's packages.
const CACHE = join(HOME, 'node_modules/.cache/patchclaw/skills');
const PLACE = mkdtempSync(join(tmpdir(), 'claw-check-skills-'));
const TREE = join(PLACE, 'tree');

const Packages = z.object({ dependencies: z.record(z.string(), z.string()).default({}) });
const Config = z.looseObject({ test: z.unknown() });
const Room = z.looseObject({ entry: z.array(z.string()), project: z.array(z.string()) });
const Knip = z.looseObject({
  workspaces: z.looseObject({ '.': Room }),
  ignoreBinaries: z.array(z.string()),
});

const names = readdirSync(join(HOME, 'skills'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

say(`Putting ${names.length} skills into a copy of the tree …`);
copyTree();
claw('init');
claw('apply', ...names, '--no-install');
installPackages();
const failed = [
  run('types', 'tsc', '--noEmit', '-p', 'tsconfig.proof.json'),
  run(
    'import rules',
    'depcruise',
    'packages',
    'src',
    'container',
    '--config',
    '.dependency-cruiser.js',
  ),
  run('unused code', 'knip'),
].filter((title) => title !== null);
if (failed.length > 0) {
  say(
    `Not in order: ${failed.join(', ')}. The paths above are below ${TREE}, which stays for you to look at.`,
  );
  process.exitCode = 1;
} else rmSync(PLACE, { recursive: true, force: true });

/** Copies the files that git knows, with nothing to prove: the skills' own proofs are the matrix's. */
function copyTree(): void {
  mkdirSync(TREE);
  for (const path of git(HOME, 'ls-files', '-z', '-co', '--exclude-standard').split('\0')) {
    if (path !== '' && existsSync(join(HOME, path))) cpSync(join(HOME, path), join(TREE, path));
  }
  change('claw.config.yaml', (text) => {
    const { check, keep, related, ...config } = Config.parse(parse(text));
    return stringify({ ...config, test: 'true' });
  });
  change('knip.json', (text) => {
    const knip = Knip.parse(JSON.parse(text));
    // Tests, what they start or load by its path, and what makes or measures their data.
    const { '.': assistant, ...packages } = knip.workspaces;
    const entry = [
      ...assistant.entry,
      // Parts that a service of a skill discovers.
      'src/services/*/api/*.ts',
      // Programs that a verb of a skill starts.
      'src/{sandbox/machines,proof-runners}/*/*-main.ts',
      // Modules for browsers, which a page of a skill loads by their addresses.
      'ui/**/*.ts',
      'skills/*/tests/**/{*.test,*-server,*-client,*-process,*-scene,benchmark,make-*}.ts',
    ];
    const project = [...assistant.project, 'ui/**', 'skills/*/tests/**'];
    const ignore = ['test/seams/{packages,dashboard-packages}/**'];
    // Imported by a name in a variable, where they have no types.
    const ignoreDependencies = ['@swc/core', 'axe-core', 'fake-indexeddb', '@micropython/.+'];
    // Programs of Debian packages that a skill or its tests start.
    const ignoreBinaries = [...knip.ignoreBinaries, 'nats-server', 'openssl', 'ss', 'ssh-keygen'];
    const workspaces = { ...packages, '.': { ...assistant, entry, project } };
    return JSON.stringify({ ...knip, workspaces, ignore, ignoreDependencies, ignoreBinaries });
  });
  git(TREE, 'init', '--quiet');
  git(TREE, 'add', '--all');
  git(
    TREE,
    '-c',
    'user.name=check',
    '-c',
    'user.email=check@localhost',
    'commit',
    '--quiet',
    '-m',
    'core',
  );
}

function installPackages(): void {
  symlinkSync(join(HOME, 'node_modules'), join(TREE, 'node_modules'));
  symlinkSync(join(CACHE, 'node_modules'), join(PLACE, 'node_modules'));
  const { dependencies: core } = packagesOf(HOME);
  const wanted = Object.entries(packagesOf(TREE).dependencies).filter(([name]) => !(name in core));
  const text = JSON.stringify({ private: true, dependencies: Object.fromEntries(wanted) });
  const path = join(CACHE, 'package.json');
  if (existsSync(join(CACHE, 'node_modules')) && readFileSync(path, 'utf8') === text) return;
  say(`Installing ${wanted.length} packages of skills …`);
  rmSync(CACHE, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(path, text);
  const quiet = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--no-package-lock',
  ];
  execFileSync('npm', ['install', ...quiet], { cwd: CACHE, stdio: 'inherit' });
}

/** @returns null where all is well, else `title` */
function run(title: string, program: string, ...args: readonly string[]): string | null {
  say(`Checking ${title} …`);
  const path = join(HOME, 'node_modules/.bin', program);
  return spawnSync(path, args, { cwd: TREE, stdio: 'inherit' }).status === 0 ? null : title;
}

function claw(...args: readonly string[]): void {
  execFileSync(process.execPath, [join(HOME, 'bin/claw.js'), ...args, '--yes'], {
    cwd: TREE,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 });
}

function change(path: string, edit: (text: string) => string): void {
  const place = join(TREE, path);
  writeFileSync(place, edit(readFileSync(place, 'utf8')));
}

function packagesOf(folder: string): z.output<typeof Packages> {
  return Packages.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
}

function say(text: string): void {
  console.error(text);
}
