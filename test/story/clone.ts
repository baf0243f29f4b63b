import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import {
  type ClawRun,
  type Codebase,
  commitAll,
  openCodebase,
} from '../../src/testing/claw/codebase.ts';
import { removeContainersOf } from './containers.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const PINNED = 'node_modules/node/bin/node';
const CONFIG = 'claw.config.yaml';
const Config = z.looseObject({ check: z.unknown(), related: z.unknown(), test: z.string() });

/**
 * A clone of this repository in a folder of its own, as the work tree is now: committed, tagged with
 * its version, its packages installed. `claw` is the clone's own, on the Node that it pins.
 */
export type Clone = Codebase & {
  readonly nodePath: string;
  /** The tree without `data/` and `.env`, which belong to the assistant that ran here. */
  readonly code: () => Snapshot;
};

/** Bytes and modes by path. */
export type Snapshot = Readonly<Record<string, string>>;

/** Copies what a commit of the work tree would hold, and the installed packages. */
export function cloneRepository(env: Readonly<Record<string, string>> = {}): Clone {
  return furnish(copyRepository(), env);
}

/**
 * A clone whose release asks for no checks and no tests: for what is looked at after an apply. All skills are
 * proved together in `skills-together.long.test.ts`, and those of the starter set in their story.
 */
export function cloneWithoutProof(env: Readonly<Record<string, string>> = {}): Clone {
  const { check, related, ...config } = Config.parse(
    parse(fs.readFileSync(join(REPOSITORY, CONFIG), 'utf8')),
  );
  if (check === undefined || related === undefined) throw new Error(`${CONFIG} proves nothing`);
  return furnish(copyRepository({ [CONFIG]: stringify({ ...config, test: 'true' }) }), env);
}

/** A folder with the repository's files, some of them with other texts, as a release that is tagged. */
function copyRepository(instead: Readonly<Record<string, string>> = {}): Codebase {
  const clone = emptyFolder();
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  });
  for (const path of listed.split('\0')) {
    const from = join(REPOSITORY, path);
    if (path === '' || !fs.existsSync(from)) continue;
    fs.mkdirSync(dirname(clone.path(path)), { recursive: true });
    fs.copyFileSync(from, clone.path(path));
  }
  clone.write(instead);
  clone.git('init', '--quiet', '--initial-branch=main');
  commitAll(clone, 'the release');
  const { version } = JSON.parse(clone.read('package.json')) as { version: string };
  clone.git('tag', `v${version}`);
  return clone;
}

/** Another clone of what a first one has committed, on its release. */
export function cloneAgain(first: Clone, env: Readonly<Record<string, string>> = {}): Clone {
  const clone = emptyFolder();
  clone.git('clone', '--quiet', first.root, '.');
  return furnish(clone, env);
}

/** A copy of a clone in whatever state it is, packages and the engine's own files included. */
export function copyClone(first: Clone): Clone {
  const clone = emptyFolder();
  execFileSync('cp', ['-a', '--reflink=auto', `${first.root}/.`, clone.root]);
  return asClone(clone);
}

/** What `npm pack` makes of a clone, unpacked elsewhere: without packages, data and settings. */
export function packedClone(first: Clone): Clone {
  const clone = emptyFolder();
  const npm = { cwd: first.root, env: visitorsEnvironment(), encoding: 'utf8' } as const;
  const made = execFileSync('npm', ['pack', '--json', '--pack-destination', clone.root], npm);
  const [{ filename }] = Packed.parse(JSON.parse(made.slice(made.indexOf('['))));
  execFileSync('tar', ['-xzf', filename, '--strip-components=1'], { cwd: clone.root });
  fs.rmSync(clone.path(filename));
  return asClone(clone);
}

const Packed = z.tuple([z.object({ filename: z.string() })]);

/** On disk, also where temporary files are in memory: packages are half a gigabyte, or links to those here. */
function emptyFolder(): Codebase {
  return openCodebase(fs.realpathSync(fs.mkdtempSync('/tmp/claw-story-')));
}

function furnish(codebase: Codebase, env: Readonly<Record<string, string>>): Clone {
  // npm would take half a minute for the same. It replaces files and never writes into them, so they can be
  // one file on disk with those here; on another disk they are copied.
  const from = join(REPOSITORY, 'node_modules');
  const to = codebase.path('node_modules');
  fs.mkdirSync(to);
  const isOneDisk = fs.statSync(from).dev === fs.statSync(to).dev;
  // Caches change while other tests run; everything else stands still.
  const entries = fs.readdirSync(from).filter((name) => !/^\.(cache|vite)/.test(name));
  execFileSync('cp', [isOneDisk ? '-al' : '-a', ...entries, to], { cwd: from });
  // Its assistants leave the checks after a first greeting out: they would take the processor of the other tests.
  codebase.write({ 'node_modules/.cache/patchclaw/first-checks-done': '' });
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
  if (settings.length > 0) codebase.write({ '.env': { text: settings.join(''), mode: 0o600 } });
  return asClone(codebase);
}

function asClone(codebase: Codebase): Clone {
  const nodePath = codebase.path(PINNED);
  return {
    ...codebase,
    nodePath,
    code: () => codeOf(codebase.root),
    claw: (...args) => runClaw(codebase.root, nodePath, args),
    async [Symbol.asyncDispose]() {
      await removeContainersOf(codebase.root);
      await codebase[Symbol.asyncDispose]();
    },
  };
}

const NOT_CODE = new Set(['.git', '.claw', '.env', 'data', 'groups', 'node_modules']);
const BUILT = 'packages/claw/lib';

function codeOf(root: string): Record<string, string> {
  const all = fs.readdirSync(root).filter((name) => !NOT_CODE.has(name));
  const paths = all.flatMap((name) => {
    if (!fs.statSync(join(root, name)).isDirectory()) return [name];
    const below = fs.readdirSync(join(root, name), { recursive: true, encoding: 'utf8' });
    return below.map((path) => join(name, path));
  });
  // What is built from the code is named by its digest; `claw` makes it where it is missing.
  const code = paths.filter((path) => !path.startsWith(BUILT));
  return Object.fromEntries(code.sort().map((path) => [path, contentOf(join(root, path))]));
}

/** A file's bytes and whether it can be run; a folder is part of the tree as well. */
function contentOf(path: string): string {
  const stat = fs.statSync(path);
  if (stat.isDirectory()) return 'folder';
  return `${(stat.mode & 0o100) === 0 ? '' : 'runs '}${fs.readFileSync(path, 'latin1')}`;
}

/** Runs the clone's own `claw` in its folder, on the Node that is given. */
export async function runClaw(
  root: string,
  nodePath: string,
  args: readonly string[],
): Promise<ClawRun> {
  const run = await runThere(root, [nodePath, 'bin/claw.js', ...args, '--json']);
  try {
    return { ...run, json: JSON.parse(run.stdout) };
  } catch (cause) {
    const printed = `${run.stdout}\n${run.stderr}`;
    throw new Error(`claw ${args.join(' ')} printed no JSON:\n${printed}`, { cause });
  }
}

/** A run of a program: its exit code and its output. */
export type Run = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs a program in a clone as a visitor would: with the system's own Node, if it is `node`. */
export async function runThere(
  root: string,
  [file, ...args]: readonly [string, ...string[]],
  input = '',
): Promise<Run> {
  const child = spawn(file, args, { cwd: root, env: visitorsEnvironment() });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((done) => child.on('close', done));
  return { code, stdout, stderr };
}

const PASSED_ON =
  /^(HOME|LANG|TMPDIR|(https?|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|npm_config_(cache|(.*:)?registry|(user|global)config|(https_)?proxy|noproxy|cafile))$/i;

/**
 * The environment of somebody who has just cloned: nothing of the test run that this is part of, no
 * keys, and the system's own Node.
 */
export function visitorsEnvironment(): Record<string, string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const path = folders.filter((folder) => !folder.endsWith('node_modules/.bin')).join(delimiter);
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    PASSED_ON.test(name) && value !== undefined ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(kept), PATH: path };
}
