import { z } from 'zod';

/** The format of the archives that this version writes, and the newest that it reads. */
export const FORMAT = 1;

/** The first entry of an archive: what it is a backup of. */
export const FACTS_ENTRY = 'backup.json';
/** The last entry of an archive: the SHA-256 of every other entry, as `sha256sum -c` reads it. */
export const SUMS_ENTRY = 'SHA256SUMS';

/** Why a backup was made. It is part of the file's name. */
export const REASONS = [
  'manual',
  'daily',
  'migration',
  'update',
  'repair',
  'restore',
  'import',
] as const;
export type BackupReason = (typeof REASONS)[number];

/** The parts of an installation that a restore can choose by name. */
export const PARTS = [
  'database',
  'memory',
  'groups',
  'sessions',
  'media',
  'settings',
  'link',
  'code',
  'other',
] as const;
export type Part = (typeof PARTS)[number];

const MOST_NOTES = 200;
const Text = z.string().max(2_000);

/** A backup's description of itself. */
export const BackupFacts = z.object({
  format: z.int().min(1),
  /** Unique for each backup. */
  id: z.string().max(64),
  /** The installation that it is of; a restored copy has the same one until it begins a life of its own. */
  instance: z.string().max(64),
  /** Milliseconds since the epoch. */
  createdAt: z.int().min(0),
  version: z.string().max(64),
  // `asked` is what `manual` was called in early backups.
  reason: z.preprocess((reason) => (reason === 'asked' ? 'manual' : reason), z.enum(REASONS)),
  /** Whether keys and logins are in it. They are only in an encrypted one. */
  hasSecrets: z.boolean(),
  /** Whether the files that people have sent are in it. */
  hasMedia: z.boolean(),
  /** Rows of each table of the assistant's database. */
  rows: z.record(z.string().max(200), z.int().min(0)),
  /** Sentences about parts of the installation that are not in the backup. */
  leftOut: z.array(Text).max(MOST_NOTES),
});
export type BackupFacts = z.output<typeof BackupFacts>;

/** A file in an archive. */
export type ArchivedFile = {
  /** Relative, with forward slashes; begins with `project/` or `data/`. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly isExecutable: boolean;
};

/** The reason why a backup could not be made, read or restored, in a sentence that says what to do next. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
  readonly code:
    | 'BAD_RECIPIENT'
    | 'DATABASE_DAMAGED'
    | 'KEY_NEEDED'
    | 'NEWER_FORMAT'
    | 'NOT_A_BACKUP'
    | 'NO_ROOM'
    | 'SPOILED'
    | 'WRONG_KEY';

  constructor(code: BackupError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The list of folders that chats share. It is the owner's and is outside the installation. A restore puts it here,
 * where nothing reads it, since another machine may have other folders by these names.
 */
export const SAVED_MOUNTS = 'data/mounts-of-backup.yaml';

/** Tells which part of the installation a file belongs to, by its path in the archive. */
export function partOf(path: string): Part {
  if (/^data\/(claw\.db(\.damaged-.*)?|databases\/.*)$/.test(path)) return 'database';
  if (path.startsWith('data/whatsapp/')) return 'link';
  if (/^data\/sessions\/[^/]+\/\.claude\/memory\//.test(path)) return 'memory';
  if (/^data\/(sessions|of-chats)\//.test(path)) return 'sessions';
  if (/^data\/(media|outgoing)\//.test(path)) return 'media';
  if (path === SAVED_MOUNTS) return 'groups';
  if (path.startsWith('data/')) return 'other';
  if (/^project\/groups\/[^/]+\/CLAUDE\.md$/.test(path)) return 'memory';
  if (/^project\/groups\/[^/]+\//.test(path)) return 'groups';
  return path === 'project/.env' ? 'settings' : 'code';
}

/** The longest path of an entry, in characters. */
const LONGEST_PATH = 4_000;

/**
 * Tells whether an entry of an archive may be written below a folder: relative, with no step up, and in one of the two
 * places that a backup has.
 */
export function isSafePath(path: string): boolean {
  if (path.length > LONGEST_PATH || path.includes('\0')) return false;
  const [root, ...rest] = path.split('/');
  if (root !== 'project' && root !== 'data') return false;
  return rest.length > 0 && rest.every((name) => name !== '' && name !== '.' && name !== '..');
}
