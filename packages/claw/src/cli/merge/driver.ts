import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CONFLICT, git } from '@patchclaw/merge/git';
import { ClawError } from '../../verbs.ts';
import { addPatterns, patternsIn, removePatterns } from './git-attributes.ts';

/** The place and the files that a driver is installed for. */
export type DriverOptions = {
  /** The folder that commands run in. */
  readonly cwd: string;
  /** For all repositories of this user. */
  readonly isGlobal: boolean;
  /** Patterns of git's attributes; without any, every file that no attribute of the repository speaks of. */
  readonly patterns: readonly string[];
  /** Writes patterns into `.gitattributes`, which is committed, instead of `.git/info/attributes`. */
  readonly isShared: boolean;
};

/** The state of the driver. */
export type DriverStatus = {
  readonly isInstalled: boolean;
  /** Merges files of which no attribute says how. */
  readonly isDefault: boolean;
  readonly patterns: readonly { readonly file: string; readonly patterns: readonly string[] }[];
  /** Null where it works, else what is wrong with it. */
  readonly fault: string | null;
};

const DESCRIPTION = 'claw: lines, then syntax; git merges by itself where it is missing';
const KEYS = ['name', 'driver', 'recursive'] as const;

/**
 * Installs the driver in git's configuration. Without patterns it becomes the default for files without a `merge`
 * attribute, so the repository's own attributes still count.
 *
 * @throws ClawError USAGE where git has another driver there, or this is not a repository
 */
export function installDriver(options: DriverOptions): void {
  const { patterns, isGlobal, isShared, cwd } = options;
  const scope = scopeOf(options);
  if (isGlobal && (patterns.length > 0 || isShared)) {
    throw refused('Patterns are for one repository: leave out --global, --path or --shared.');
  }
  if (isShared && patterns.length === 0) throw refused('--shared wants a --path.');
  if (patterns.some((pattern) => pattern === '' || /[\r\n\0]/.test(pattern))) {
    throw refused('A --path is empty, or has more than one line.');
  }
  const present = read(options, 'merge.claw.driver');
  if (present !== null && !present.includes('merge-driver run')) {
    throw refused(`git has another driver by the name claw: ${present}`);
  }
  if (patterns.length === 0) {
    const other = read(options, 'merge.default');
    if (other !== null && other !== 'claw') {
      const next = 'Unset it, or name files: claw merge-driver install --path "*.ts"';
      throw refused(`git's merge.default is ${other}, which stays. ${next}`);
    }
  }
  const values = {
    name: DESCRIPTION,
    driver: driverCommand(gitVersion(cwd)),
    // A merge base made of several is git's own affair: everybody has to come to the same.
    recursive: 'text',
  };
  // First, since it may be refused: a pattern without a driver is git's own merge.
  if (patterns.length > 0) addPatterns(attributeFiles(cwd)[isShared ? 1 : 0], patterns);
  for (const key of KEYS) git(['config', scope, `merge.claw.${key}`, values[key]], undefined, cwd);
  if (patterns.length === 0) git(['config', scope, 'merge.default', 'claw'], undefined, cwd);
}

/** The first git that tells a driver the names of both sides. */
const GIT_WITH_LABELS = [2, 44] as const;

/**
 * Returns the shell command that git runs for each file. Where Node or claw is missing, is killed or fails,
 * git's own merge takes over, from the same file: the driver replaces it only once it is done.
 */
function driverCommand([major, minor]: readonly [number, number]): string {
  const [withMajor, withMinor] = GIT_WITH_LABELS;
  const isLabelled = major > withMajor || (major === withMajor && minor >= withMinor);
  const claw = realpathSync(resolve(process.argv[1] ?? 'claw'));
  const labels = isLabelled ? ' %X %S %Y' : '';
  const fallback = isLabelled ? '-L %X -L %S -L %Y' : '-L ours -L base -L theirs';
  return [
    `n=${quoted(process.execPath)}`,
    'test -x "$n" || n=node',
    `"$n" ${quoted(claw)} merge-driver run %O %A %B %L %P${labels}`,
    's=$?',
    // A file that git cannot merge either, such as a binary one, stays as ours, in conflict.
    `case $s in 0) ;; ${CONFLICT}) s=1 ;; *) git merge-file -q --marker-size=%L ${fallback} %A %O %B; s=$?; test $s -le 127 || s=1 ;; esac`,
    'exit $s',
  ].join('; ');
}

/** Lets the command merge a file in a folder of its own. @returns what is wrong with it, null for nothing */
function tryDriver(command: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'claw-driver-'));
  try {
    const texts = { O: 'a\nb\nc\n', A: 'A\nb\nc\n', B: 'a\nb\nC\n' };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    const given: Record<string, string> = { O: 'O', A: 'A', B: 'B', L: '7', P: "'a b.txt'" };
    const filled = command.replace(/%(.)/g, (_all, letter: string) =>
      letter === '%' ? '%' : (given[letter] ?? letter),
    );
    const run = spawnSync('sh', ['-c', filled], { cwd: folder, encoding: 'utf8' });
    if (run.stderr.trim() !== '')
      return `git merges by itself: ${run.stderr.trim().split('\n')[0]}`;
    const merged = readFileSync(join(folder, 'A'), 'utf8');
    return run.status === 0 && merged === 'A\nb\nC\n' ? null : 'a small file came out wrong';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Quotes a path for the shell, and its percent signs for git. */
function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''").replaceAll('%', '%%')}'`;
}

/**
 * Removes what {@link installDriver} added, and nothing else.
 *
 * @returns false where there was nothing
 */
export function uninstallDriver(options: DriverOptions): boolean {
  const { isGlobal, cwd } = options;
  const scope = scopeOf(options);
  let isFound = false;
  const unset = (key: string) => {
    git(['config', scope, '--unset-all', key], undefined, cwd);
    isFound = true;
  };
  if (read(options, 'merge.default') === 'claw') unset('merge.default');
  if (read(options, 'merge.claw.driver')?.includes('merge-driver run')) {
    for (const key of KEYS)
      if (read(options, `merge.claw.${key}`) !== null) unset(`merge.claw.${key}`);
  }
  if (!isGlobal) {
    for (const file of attributeFiles(cwd)) if (removePatterns(file)) isFound = true;
  }
  return isFound;
}

/** Returns what is installed, and tries the driver on a small file. */
export function driverStatus(options: DriverOptions): DriverStatus {
  const command = read(options, 'merge.claw.driver');
  const files = options.isGlobal ? [] : attributeFiles(options.cwd);
  const patterns = files.flatMap((file) => {
    const found = patternsIn(file);
    return found.length === 0 ? [] : [{ file, patterns: found }];
  });
  const isDefault = read(options, 'merge.default') === 'claw';
  const fault = command === null ? 'it is not installed' : tryDriver(command);
  return { isInstalled: command !== null, isDefault, patterns, fault };
}

function attributeFiles(cwd: string): readonly [string, string] {
  const ask = (...args: string[]) =>
    resolve(
      cwd,
      git(['rev-parse', ...args], undefined, cwd)
        .toString('utf8')
        .replace(/\n$/, ''),
    );
  try {
    return [
      ask('--git-path', 'info/attributes'),
      resolve(ask('--show-toplevel'), '.gitattributes'),
    ];
  } catch {
    throw refused('This is not a repository of git with files in it. For all of yours: --global');
  }
}

/** Reads a setting of the scope; of a repository also where the user's own configuration has it for `merge.default`. */
function read(options: DriverOptions, key: string): string | null {
  const scopes = options.isGlobal ? ['--global'] : ['--local'];
  try {
    const printed = git(['config', ...scopes, '--get', key], undefined, options.cwd);
    return printed.toString('utf8').replace(/\n$/, '');
  } catch {
    return null;
  }
}

function scopeOf({ isGlobal, cwd }: DriverOptions): '--global' | '--local' {
  if (!isGlobal) attributeFiles(cwd);
  return isGlobal ? '--global' : '--local';
}

function gitVersion(cwd: string): readonly [number, number] {
  const [, major = '0', minor = '0'] =
    /(\d+)\.(\d+)/.exec(git(['--version'], undefined, cwd).toString()) ?? [];
  return [Number(major), Number(minor)];
}

function refused(message: string): ClawError {
  return new ClawError('USAGE', message);
}
