// What belongs to an installation, and under which path each file is in a backup:
//
//     project/...   the source files that git knows or would add, .claw/, groups/ and .env
//     data/...      the data folder: databases as one file each, conversations, files, links and logins, and a copy of
//                   the list of shared folders
//
// Caches, logs and sockets are made anew and are left out. Keys and logins are only in an encrypted backup.
import { execFile } from 'node:child_process';
import { constants, type Dirent, existsSync } from 'node:fs';
import {
  access,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  stat,
} from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import type { ArchiveItem } from './archive.ts';
import { BackupError, SAVED_MOUNTS } from './archive-format.ts';
import { copyDatabase, isDatabase } from './database-copy.ts';

export type ContentsOptions = {
  readonly projectDir: string;
  readonly dataDir: string;
  readonly mountsFile: string | null;
  readonly withSecrets: boolean;
  readonly withMedia: boolean;
  readonly isSecret: (name: string, value: string) => boolean;
  /** True saves a damaged database byte by byte, beside its name, and goes on: the assistant is stopped. */
  readonly withDamaged: boolean;
  /** An empty folder for copies that must not change while they are read. */
  readonly stagingDir: string;
};

/** The files of an installation, as they are put into a backup. */
export type Contents = {
  readonly rows: Readonly<Record<string, number>>;
  readonly leftOut: readonly string[];
  items(): AsyncGenerator<ArchiveItem>;
};

/** A file that was found: where it is, and where it goes. */
type FoundFile = { readonly path: string; readonly from: string };

const OWN_DATABASE = 'data/claw.db';
/** Made anew, of this process, or backups themselves. */
const NOT_DATA =
  /^(?:cache|logs|run|backups|restoring|tmp|drill|before-restore-.*)$|^(?:instance\.(?:db.*|pid)|podman-seccomp\.json|fenced\.json|mounts-of-backup\.yaml|instance\.json|last-healthy\.json)$|\.(?:damaged-.*|repaired|repairing|damage\.json)$/;
/** Entries without keys. All others in the data folder may hold some: a channel's folder holds its login. */
const WITHOUT_KEYS = new Set(['claw.db', 'databases', 'sessions', 'of-chats', 'media', 'outgoing']);
/** Agents write there. None of it is opened as anything but bytes. */
const OF_AGENTS = /^data\/(?:sessions|of-chats|media|outgoing)\//;
const COMPANION = /-(?:wal|shm|journal)$/;
/** Parts of `.claw` that hold only for this folder and this moment. */
const NOT_CLAW = /^(?:tx|cache|backup|pending|lock\.db.*)$/;
/** Larger files are copied before they are read. */
const IN_MEMORY_BYTES = 8 * 1024 * 1024;
/** A source file that is larger is not a source file. */
const LARGEST_SOURCE_BYTES = 64 * 1024 * 1024;
const SHOWN = 3;

/** Finds everything that belongs to an installation, and copies its databases. Nothing of it is changed. */
export async function gatherContents(options: ContentsOptions): Promise<Contents> {
  const { projectDir, withSecrets, withMedia, stagingDir } = options;
  const leftOut = new Notes();
  const data = await dataFiles(options, leftOut);
  const databases: FoundFile[] = [];
  const damaged: FoundFile[] = [];
  let rows: Readonly<Record<string, number>> = {};
  await mkdir(stagingDir, { recursive: true, mode: 0o700 });
  for (const [n, { path, from }] of data.databases.entries()) {
    const copy = join(stagingDir, `${n}.db`);
    try {
      const counted = await copyDatabase(from, copy);
      if (path === OWN_DATABASE) rows = counted;
      databases.push({ path, from: copy });
    } catch (error) {
      if (!(error instanceof BackupError)) throw error;
      if (options.withDamaged) {
        damaged.push(...damagedParts({ path, from }));
        leftOut.say(`${path} is damaged; it is in the backup as it is, as ${damagedName(path)}.`);
      } else if (path === OWN_DATABASE) throw error;
      // A damaged database of a skill must not keep everything else from being saved.
      else leftOut.say(`${path} is damaged and is not in it: npx claw repair`);
    }
  }
  const files = [
    ...data.files,
    ...(await groupFiles(projectDir, leftOut)),
    ...(await listCode(projectDir, leftOut)),
  ];
  const { mountsFile } = options;
  if (mountsFile !== null && existsSync(mountsFile)) {
    files.push({ path: SAVED_MOUNTS, from: mountsFile });
  }
  const env = await environmentText(options);
  if (!withSecrets) {
    leftOut.say(
      'Keys and logins are not in it, since it is not encrypted: the values of keys in .env, and the links of channels, such as WhatsApp.',
    );
  }
  if (!withMedia) leftOut.say('Files that people have sent are not in it.');
  return {
    rows,
    leftOut: leftOut.sentences(),
    async *items() {
      if (env !== null) yield bytesItem('project/.env', Buffer.from(env), false);
      for (const database of [...databases, ...damaged]) yield await largeFile(database, false);
      for (const file of files) {
        const item = await fileItem(file, stagingDir);
        if (item !== null) yield item;
      }
    },
  };
}

/** Lists the files of a damaged database, under names that no program opens by itself. */
function damagedParts({ path, from }: FoundFile): readonly FoundFile[] {
  return ['', '-wal', '-journal']
    .map((end) => ({ path: damagedName(path) + end, from: from + end }))
    .filter((part) => existsSync(part.from));
}

/** Repairs give damaged files such names, too. */
function damagedName(path: string): string {
  return `${path}.damaged-before-repair`;
}

/** Sentences on what is not in a backup: a few examples of each kind. */
class Notes {
  readonly #sentences: string[] = [];
  readonly #links: string[] = [];
  readonly #closed: string[] = [];

  say(sentence: string): void {
    this.#sentences.push(sentence);
  }

  link(path: string): void {
    this.#links.push(path);
  }

  closed(path: string): void {
    this.#closed.push(path);
  }

  sentences(): readonly string[] {
    return [
      ...this.#sentences,
      ...someOf(this.#links, 'symbolic links left out'),
      ...someOf(this.#closed, 'files left out, which could not be read'),
    ];
  }
}

function someOf(paths: readonly string[], what: string): readonly string[] {
  if (paths.length === 0) return [];
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  return [
    `${what[0]?.toUpperCase()}${what.slice(1)} (${paths.length}): ${paths.slice(0, SHOWN).join(', ').slice(0, 1_000)}${more}.`,
  ];
}

async function dataFiles(
  { dataDir, withSecrets, withMedia }: ContentsOptions,
  leftOut: Notes,
): Promise<{ readonly databases: readonly FoundFile[]; readonly files: readonly FoundFile[] }> {
  const names = (await entriesOf(dataDir)).filter(({ name }) => {
    if (NOT_DATA.test(name) || COMPANION.test(name)) return false;
    if (!withMedia && (name === 'media' || name === 'outgoing')) return false;
    return withSecrets || WITHOUT_KEYS.has(name);
  });
  const all = await collect(dataDir, 'data', names, leftOut);
  const own = all.filter(({ path }) => !OF_AGENTS.test(path));
  const databases = own.filter(
    ({ path, from }) =>
      // The assistant's own is one whatever its first bytes are: then it is damaged.
      path === OWN_DATABASE ||
      (/\.(?:db|sqlite3?)$/.test(path) && !NOT_DATA.test(path) && isDatabase(from)),
  );
  const isPart = (path: string) =>
    COMPANION.test(path) &&
    databases.some((database) => database.path === path.replace(COMPANION, ''));
  const chosen = new Set(databases);
  return {
    databases,
    files: all.filter(
      (file) => !chosen.has(file) && !isPart(file.path) && !NOT_DATA.test(file.path),
    ),
  };
}

async function groupFiles(projectDir: string, leftOut: Notes): Promise<readonly FoundFile[]> {
  const folder = join(projectDir, 'groups');
  return collect(folder, 'project/groups', await entriesOf(folder), leftOut);
}

/** Lists the files that make up the code: sources, and what the engine keeps of them in `.claw/`. */
async function listCode(projectDir: string, leftOut: Notes): Promise<readonly FoundFile[]> {
  return [...(await engineFiles(projectDir, leftOut)), ...(await sourceFiles(projectDir, leftOut))];
}

/** Lists the files that make up the code of an installation, by their paths in a backup. */
export function codeFiles(projectDir: string): Promise<readonly FoundFile[]> {
  return listCode(projectDir, new Notes());
}

async function engineFiles(projectDir: string, leftOut: Notes): Promise<readonly FoundFile[]> {
  const folder = join(projectDir, '.claw');
  const names = (await entriesOf(folder)).filter(({ name }) => !NOT_CLAW.test(name));
  return collect(folder, 'project/.claw', names, leftOut);
}

/** Lists the source files that git knows or would add; without git, all but what is made anew. */
async function sourceFiles(projectDir: string, leftOut: Notes): Promise<readonly FoundFile[]> {
  const paths = (await listedByGit(projectDir)) ?? null;
  if (paths === null) {
    const names = (await entriesOf(projectDir)).filter(
      ({ name }) => !/^(?:node_modules|data|groups|\.claw|\.git|\.env|\.restore|dist)$/.test(name),
    );
    return collect(projectDir, 'project', names, leftOut);
  }
  const found: FoundFile[] = [];
  for (const path of paths) {
    if (/^(?:groups|data|\.claw|\.restore)\//.test(path) || path === '.env') continue;
    const from = join(projectDir, path);
    const info = await lstat(from).catch(() => null);
    if (info?.isSymbolicLink() === true) leftOut.link(path);
    // What git knows and is gone was deleted by the owner: it is not in the backup, and a restore deletes it too.
    if (info?.isFile() !== true) continue;
    if (info.size > LARGEST_SOURCE_BYTES) {
      leftOut.say(`${path} is too large for a source file and is not in it.`);
    } else found.push({ path: `project/${path}`, from });
  }
  return found;
}

async function listedByGit(projectDir: string): Promise<readonly string[] | null> {
  try {
    const { stdout } = await promisify(execFile)(
      'git',
      [
        '-c',
        'core.fsmonitor=false',
        'ls-files',
        '-z',
        '--cached',
        '--others',
        '--exclude-standard',
      ],
      {
        cwd: projectDir,
        maxBuffer: 256 * 1024 * 1024,
        env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' },
      },
    );
    return [...new Set(stdout.split('\0').filter((path) => path !== ''))].sort();
  } catch {
    return null; // Unpacked from an archive, or a machine without git.
  }
}

/** Lists the plain files below some entries of a folder, in order; follows no link. */
async function collect(
  folder: string,
  prefix: string,
  entries: readonly Dirent[],
  leftOut: Notes,
): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  for (const entry of entries) {
    const from = join(folder, entry.name);
    const path = `${prefix}/${entry.name}`;
    if (entry.isDirectory()) {
      found.push(
        ...(await collect(from, path, await entriesOf(from, () => leftOut.closed(path)), leftOut)),
      );
    } else if (entry.isSymbolicLink()) leftOut.link(path);
    else if (entry.isFile()) {
      const isOpen = await access(from, constants.R_OK).then(
        () => true,
        () => false,
      );
      if (isOpen) found.push({ path, from });
      else leftOut.closed(path);
    }
  }
  return found;
}

async function entriesOf(folder: string, onClosed = () => {}): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onClosed();
    return [];
  }
}

/** Returns a file as it is now; null if it is gone meanwhile. */
async function fileItem(found: FoundFile, stagingDir: string): Promise<ArchiveItem | null> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(found.from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const info = await file.stat();
    if (!info.isFile()) return null;
    const isExecutable = (info.mode & 0o100) !== 0;
    if (info.size <= IN_MEMORY_BYTES) {
      return bytesItem(found.path, await file.readFile(), isExecutable);
    }
    const copy = join(stagingDir, 'large');
    await rm(copy, { force: true });
    await copyFile(found.from, copy, constants.COPYFILE_FICLONE);
    return await largeFile({ path: found.path, from: copy }, isExecutable);
  } finally {
    await file.close();
  }
}

async function largeFile({ path, from }: FoundFile, isExecutable: boolean): Promise<ArchiveItem> {
  return {
    path,
    sizeBytes: (await stat(from)).size,
    isExecutable,
    async *read() {
      const file = await open(from, 'r');
      try {
        yield* file.createReadStream({ highWaterMark: 256 * 1024, autoClose: false });
      } finally {
        await file.close();
      }
    },
  };
}

function bytesItem(path: string, bytes: Buffer, isExecutable: boolean): ArchiveItem {
  return {
    path,
    sizeBytes: bytes.length,
    isExecutable,
    async *read() {
      yield bytes;
    },
  };
}

/** Returns the text of `.env`; without keys it is made of the other settings. */
async function environmentText(options: ContentsOptions): Promise<string | null> {
  const text = await readFile(join(options.projectDir, '.env'), 'utf8').catch(() => null);
  if (text === null || options.withSecrets) return text;
  const kept = Object.entries(parseEnv(text)).flatMap(([name, value = '']) =>
    options.isSecret(name, value)
      ? [`# ${name} was left out of this backup.`]
      : [settingLine(name, value)],
  );
  return `${kept.join('\n')}\n`;
}

function settingLine(name: string, value: string): string {
  if (/^[\w./:@,+-]*$/.test(value)) return `${name}=${value}`;
  const quote = ["'", '"', '`'].find((mark) => !value.includes(mark)) ?? '"';
  return `${name}=${quote}${value}${quote}`;
}
