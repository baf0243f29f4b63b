import { ClawError } from '../../errors.ts';
import { pathFault, showPath } from './paths.ts';

// Files by which a package could escape the engine: git's and the engine's own files, the settings with their
// secrets, and installed code that no plan shows. `.env.example` is exempt below.
const ENGINE_GLOBS = [
  '**/.git/**',
  '.claw/**',
  'claw.config.yaml',
  '**/.env*',
  '**/node_modules/**',
];

// Never part of a tree, so not even a customisation can carry them.
const UNTOUCHABLE_GLOBS = ['**/.git/**', '.claw/**', '**/node_modules/**'];

// Files that run on their own or steer a tool.
const CONSENT_GLOBS = [
  '**/.npmrc',
  '**/.gitattributes',
  '.gitmodules',
  '.husky/**',
  '.github/**',
  '**/.vscode/**',
  '**/.claude/**',
];

/** The rule which files packages may not touch. */
export type Protection = {
  /** The glob that forbids the path, or null. Both are compared in every spelling a disk may unify. */
  readonly protectedBy: (path: string) => string | null;
};

/**
 * Returns the engine's own protected files and those that the codebase adds.
 *
 * @param globs of the codebase's `claw.config.yaml`; `**`, `*` and `?` are understood
 */
export function createProtection(globs: readonly string[]): Protection {
  return protectionOf([...ENGINE_GLOBS, ...globs]);
}

/** Creates the protection against even the owner's recorded customisations. */
export function createCustomisationProtection(): Protection {
  return protectionOf(UNTOUCHABLE_GLOBS);
}

/**
 * Returns the reason that a path can never be in a composed tree: it is not canonical, or not even the
 * owner's customisations can carry it. Null for every other path.
 */
export function treePathFault(path: string): string | null {
  const fault = pathFault(path);
  if (fault !== null) return fault;
  const glob = NEVER.protectedBy(path);
  return glob && `nothing may be made at ${glob}`;
}

/** @throws ClawError PATH_PROTECTED whose path is the protected one */
export function checkProtected(path: string, protection: Protection): void {
  const glob = protection.protectedBy(path);
  if (glob === null) return;
  const shown = showPath(path);
  throw new ClawError(
    'PATH_PROTECTED',
    `${shown} is protected (${glob}): a skill may not touch it.`,
    { path: shown, data: { glob } },
  );
}

/**
 * Returns the files of which each change needs the owner's word for this very path (`--allow <path>`).
 *
 * @param folders private ones of the codebase, from its `claw.config.yaml`
 */
export function createConsent(folders: readonly string[]): Protection {
  return protectionOf([...CONSENT_GLOBS, ...folders.map((folder) => `${folder}/**`)]);
}

const NEVER = protectionOf(UNTOUCHABLE_GLOBS);

function protectionOf(globs: readonly string[]): Protection {
  const folded = globs.map((glob) => ({ glob, pattern: fold(glob) }));
  const shortStems = globs.flatMap(shortNameStems);
  return {
    protectedBy: (path) => {
      const candidate = fold(path);
      for (const { glob, pattern } of folded) {
        if (!matchesGlob(candidate, pattern)) continue;
        // Only in this very spelling: any other could be another file on the disk.
        if (glob === '**/.env*' && path.split('/').at(-1) === '.env.example') continue;
        return glob;
      }
      return shortStems.find(({ stem }) => hasShortName(candidate, stem))?.glob ?? null;
    },
  };
}

/** Folds spellings that differ by case or compatibility form, as disks and eyes do. */
function fold(path: string): string {
  return path.normalize('NFKC').toLowerCase().toUpperCase().normalize('NFKC');
}

/**
 * Returns the stems under which Windows may list a glob's names in 8.3 form: `.git` as `GIT~1`.
 * A name that fits 8.3 has no second name.
 */
function shortNameStems(glob: string): readonly { glob: string; stem: string }[] {
  return glob
    .split('/')
    .map((part) => part.replace(/[*?]/g, ''))
    .filter((part) => part !== '' && !/^[^. ]{1,8}(\.[^. ]{1,3})?$/.test(part))
    .map((part) => ({ glob, stem: fold(part.replace(/^\.+/, '').split('.')[0] ?? part) }));
}

function hasShortName(folded: string, stem: string): boolean {
  if (!folded.includes('~')) return false;
  return folded.split('/').some((part) => {
    const short = /^([^.~]{1,7})~\d{1,6}(\.[^.]{0,3})?$/.exec(part)?.[1];
    if (short === undefined) return false;
    // After four names alike, Windows keeps two letters and four digits of a hash.
    const isHashed = /^..[0-9A-F]{4}$/.test(short) && stem.startsWith(short.slice(0, 2));
    return isHashed || stem.slice(0, 6) === short.slice(0, 6);
  });
}

/**
 * Tells whether a path matches a glob of `**` (any folders), `*` and `?` (within one part).
 *
 * Names that begin with a dot match like any other, and `folder/**` matches the folder's own name too. So
 * neither `folder/.hidden` nor a file named like the folder evades a rule that protects it.
 */
function matchesGlob(path: string, glob: string): boolean {
  return matchesParts({ path: path.split('/'), glob: glob.split('/') }, 0, 0);
}

type Parts = { readonly path: readonly string[]; readonly glob: readonly string[] };

/** Compares the parts of a path from one on with those of a glob from one on. */
function matchesParts(parts: Parts, at: number, of: number): boolean {
  const { path, glob } = parts;
  const pattern = glob[of];
  if (pattern === undefined) return at === path.length;
  if (pattern === '**') {
    if (of === glob.length - 1) return true;
    for (let from = at; from < path.length; from += 1) {
      if (matchesParts(parts, from, of + 1)) return true;
    }
    return false;
  }
  const part = path[at];
  return part !== undefined && matchesPart(part, pattern) && matchesParts(parts, at + 1, of + 1);
}

function matchesPart(part: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return part === pattern;
  const literal = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replace(/\*+/g, '.*').replace(/\?/g, '.')}$`, 'su').test(part);
}
