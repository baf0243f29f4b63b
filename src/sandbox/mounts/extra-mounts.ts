import type { Dirent } from 'node:fs';
import { mkdir, readdir, realpath, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Mount } from '../engines/engine.ts';
import { readMountsFile, type WantedMount } from './mounts-file.ts';

/** The agent's folder of files that the owner shared with its group. */
export const EXTRA = '/workspace/extra';

/** Folders of the system, of which nothing can be shared. */
const SYSTEM = ['/boot', '/dev', '/etc', '/proc', '/run', '/sys', '/var/run'];

export type ExtraMountParts = {
  /** The owner's list; null where there is no place for one. */
  readonly mountsFile: string | null;
  readonly homeDir: string;
  readonly projectDir: string;
  readonly dataDir: string;
  readonly folder: string;
};

export type ExtraMounts = {
  readonly mounts: readonly Mount[];
  /** A sentence for each file or folder that was not shared, with the reason. */
  readonly refusals: readonly string[];
};

/**
 * Returns the further files and folders that a group sees, as the owner's list says.
 *
 * The list is outside the project, where neither a skill nor an agent can write. What looks like a key is
 * refused or covered, under the name it is listed by and where links lead; what is created later in a shared
 * folder is seen by containers that run already.
 */
export async function extraMounts(parts: ExtraMountParts): Promise<ExtraMounts> {
  const { mountsFile, folder, homeDir } = parts;
  if (mountsFile === null) return { mounts: [], refusals: [] };
  try {
    const guarded = await guardedPlaces(parts, mountsFile);
    const listed = await readMountsFile(mountsFile);
    const writable = await realPathsOf(
      listed.filter(({ write }) => write),
      homeDir,
    );
    const wanted = listed.filter(({ groups }) => groups.includes(folder));
    const mounts: Mount[] = [];
    const refusals: string[] = [];
    for (const mount of wanted) {
      try {
        const taken = new Set(mounts.map(({ target }) => target));
        mounts.push(...(await mountsOf(mount, { guarded, writable, taken, ...parts })));
      } catch (error) {
        refusals.push(`${mount.path} is not shared with ${folder}: ${reasonOf(error)}.`);
      }
    }
    return { mounts, refusals };
  } catch (error) {
    return { mounts: [], refusals: [`Nothing more is shared with ${folder}: ${reasonOf(error)}`] };
  }
}

type Checks = ExtraMountParts & {
  /** Real paths that nothing shared may hold or lie in. */
  readonly guarded: readonly string[];
  /** Real paths of what agents can write to. */
  readonly writable: readonly string[];
  readonly taken: ReadonlySet<string>;
};

async function mountsOf(wanted: WantedMount, checks: Checks): Promise<readonly Mount[]> {
  const listed = absolute(wanted, checks.homeDir);
  const source = await realpath(listed);
  const found = await stat(source);
  if (!found.isFile() && !found.isDirectory()) throw new Error('it is neither a file nor a folder');
  checkPlace(source, [listed, source], checks);
  const target = `${EXTRA}/${wanted.as ?? basename(listed)}`;
  if (checks.taken.has(target)) throw new Error(`something else is called ${basename(target)}`);
  const mount = { source, target, isWritable: wanted.write };
  return found.isFile() ? [mount] : [mount, ...(await coversOf(mount, checks.dataDir))];
}

function checkPlace(source: string, names: readonly string[], checks: Checks): void {
  const { homeDir } = checks;
  for (const name of names) {
    // Checks only the part below $HOME: `/home/mickey` matches the pattern `key` and is no secret.
    const secret = secretPartOf(isWithin(name, homeDir) ? relative(homeDir, name) : name);
    if (secret !== null) throw new Error(`“${secret}” is a name of secrets`);
  }
  if (source === '/' || source === homeDir || source === dirname(homeDir)) {
    throw new Error('it holds too much; name a folder in it');
  }
  if (SYSTEM.some((path) => isWithin(source, path))) throw new Error('it belongs to the system');
  for (const place of checks.guarded) {
    if (isWithin(source, place) || isWithin(place, source)) {
      throw new Error(`it overlaps ${place}, which is the assistant's own`);
    }
  }
  // An agent could put a link in its way, and the host would follow it.
  const above = checks.writable.find((place) => place !== source && isWithin(source, place));
  if (above !== undefined) throw new Error(`it is in ${above}, where agents can write`);
}

/** Names of files and folders that hold keys or passwords, as far as a name can tell. */
const SECRET_NAMES = new Set([
  '.aws',
  '.azure',
  '.docker',
  '.env',
  '.gcloud',
  '.git-credentials',
  '.gnupg',
  '.kube',
  '.mozilla',
  '.my.cnf',
  '.netrc',
  '.npmrc',
  '.password-store',
  '.pgpass',
  '.pypirc',
  '.ssh',
  '.thunderbird',
  '.vault-token',
  'docker.sock',
  'shadow',
]);

const SECRET_PATTERNS = [
  /^\.env\./,
  /^id_(rsa|dsa|ecdsa|ed25519)/,
  /\.(pem|p12|pfx|kdbx|jks|ovpn)$/,
  /key|secret|credential|passw(or)?d/,
];

/** Tells whether a name alone forbids showing the file or folder to an agent. */
export function isSecretName(name: string): boolean {
  const plain = name.normalize('NFKC').toLowerCase();
  return SECRET_NAMES.has(plain) || SECRET_PATTERNS.some((pattern) => pattern.test(plain));
}

/** Returns the first part of a path that is such a name; null when none is. */
function secretPartOf(path: string): string | null {
  return path.split('/').find(isSecretName) ?? null;
}

/** Returns mounts that put nothing in the place of each secret inside. */
async function coversOf(mount: Mount, dataDir: string): Promise<readonly Mount[]> {
  const secrets = await secretsWithin(mount.source);
  if (secrets.length === 0) return [];
  const cache = join(dataDir, 'cache');
  const [file, folder] = [join(cache, 'empty-file'), join(cache, 'empty-folder')];
  await mkdir(folder, { recursive: true });
  await writeFile(file, '');
  return secrets.map(({ path, isFolder }) => ({
    source: isFolder ? folder : file,
    target: join(mount.target, path),
    isWritable: false,
  }));
}

const MAX_SEARCHED_FILES = 200_000;
const MAX_SECRETS = 200;

type SecretWithin = {
  /** Below the folder that was looked through. */
  readonly path: string;
  readonly isFolder: boolean;
};

/**
 * Returns the files and folders inside a folder whose names say that no agent may see them. Links are not
 * followed: inside a container they lead nowhere else.
 *
 * @throws Error in words for the owner when there is too much to look through, or to hide
 */
async function secretsWithin(folder: string): Promise<readonly SecretWithin[]> {
  const found: SecretWithin[] = [];
  let left = MAX_SEARCHED_FILES;

  async function look(below: string): Promise<void> {
    const entries = await entriesOf(join(folder, below));
    left -= entries.length;
    if (left < 0)
      throw new Error(`holds more than ${MAX_SEARCHED_FILES} files; name a folder in it`);
    for (const entry of entries) {
      const path = join(below, entry.name);
      // Nothing can be put over it, and the host cannot look into it.
      if (entry.name.includes('\ufffd') && (entry.isDirectory() || isSecretName(entry.name))) {
        throw new Error(
          `holds ${path}, whose name is no UTF-8; rename it, or name a folder beside it`,
        );
      }
      if (isSecretName(entry.name)) {
        // Only files and folders can be covered; a link's target is covered at its own path.
        if (entry.isFile() || entry.isDirectory()) {
          found.push({ path, isFolder: entry.isDirectory() });
        }
      } else if (entry.isDirectory()) await look(path);
    }
    if (found.length > MAX_SECRETS) {
      throw new Error(
        `holds more than ${MAX_SECRETS} names like those of keys; name a folder in it`,
      );
    }
  }

  await look('');
  return found;
}

/** Lists a folder; one that the host cannot read counts as empty, since no agent has more rights. */
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES') return [];
    throw error;
  });
}

async function guardedPlaces(
  { projectDir, dataDir }: ExtraMountParts,
  mountsFile: string,
): Promise<readonly string[]> {
  const real = (path: string) => realpath(path).catch(() => path);
  const [project, data, list] = [
    await real(projectDir),
    await real(dataDir),
    await real(mountsFile),
  ];
  if (isWithin(list, project) || isWithin(list, data)) {
    throw new Error(`${mountsFile} must lie outside the project. Set CLAW_MOUNTS to another file.`);
  }
  return [project, data, list];
}

async function realPathsOf(
  mounts: readonly WantedMount[],
  homeDir: string,
): Promise<readonly string[]> {
  const paths = mounts.map((mount) => absolute(mount, homeDir));
  return await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
}

function absolute({ path }: WantedMount, homeDir: string): string {
  return path.startsWith('~/') ? resolve(homeDir, path.slice(2)) : resolve(path);
}

function isWithin(path: string, parent: string): boolean {
  const way = relative(parent, path);
  return way === '' || !(way === '..' || way.startsWith('../'));
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'EACCES') return 'it cannot be read';
  return error instanceof Error ? error.message : String(error);
}
