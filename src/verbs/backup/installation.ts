import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { z } from 'zod';
import { mountsFileOf } from '../../config.ts';
import { BackupError, type BackupReason } from '../../store/backup/archive-format.ts';
import { type MadeBackup, makeBackup } from '../../store/backup/make-backup.ts';
import type { BackupKeys, BackupLock } from '../../store/backup/packed-stream.ts';
import type { Unpacked } from '../../store/backup/restore.ts';
import { isSecretSetting, secretValues } from '../../supervisor/environment.ts';
import { lockInstance, STOP_FIRST } from '../../supervisor/instance-lock.ts';
import { type VerbCall, VerbError } from '../../verb.ts';

/** The place that a verb works in. */
export type Installation = {
  readonly projectDir: string;
  readonly dataDir: string;
  readonly now: () => number;
};

/** The settings of backups, in `.env`. */
export const BACKUP_SETTINGS = z.object({
  /** Public keys of age that every backup is locked with, with blanks or commas between them. */
  BACKUP_TO: z.string().max(10_000).optional(),
  /** A command of the shell that gets each new file as `$1`, such as a call of restic or rclone. */
  BACKUP_AFTER: z.string().max(4_000).optional(),
  // Where the list of shared folders is.
  CLAW_MOUNTS: z.string().max(4_000).optional(),
  HOME: z.string().max(4_000).optional(),
  XDG_CONFIG_HOME: z.string().max(4_000).optional(),
});
export type BackupSettings = z.output<typeof BACKUP_SETTINGS>;

/** Splits what `BACKUP_TO` names. */
export function recipientsIn({ BACKUP_TO = '' }: BackupSettings): readonly string[] {
  return BACKUP_TO.split(/[\s,]+/).filter((recipient) => recipient !== '');
}

/** Returns the lock that the settings ask for, for backups that nobody gives options to. */
export function lockBySettings(settings: BackupSettings): BackupLock {
  const recipients = recipientsIn(settings);
  return recipients.length === 0 ? { kind: 'none' } : { kind: 'recipients', recipients };
}

/**
 * Saves this installation before a verb changes it, into `data/backups/`, with the keys of the settings.
 *
 * @throws VerbError with the reason why it could not be saved
 */
export async function saveInstallation(
  { projectDir, dataDir, now }: Installation,
  options: {
    readonly settings: BackupSettings;
    readonly reason: BackupReason;
    readonly lock: BackupLock;
    readonly folder?: string;
    readonly withSecrets?: boolean;
    readonly withMedia?: boolean;
    readonly signal?: AbortSignal;
  },
): Promise<MadeBackup> {
  try {
    const mountsFile = mountsFileOf(options.settings, projectDir);
    return await makeBackup({ projectDir, dataDir, mountsFile, isSecret, now: now(), ...options });
  } catch (error) {
    throw inVerbWords(error);
  }
}

/**
 * Keeps the assistant from starting while a verb works on its data.
 *
 * @param why said to an owner whose assistant runs
 * @throws VerbError where it runs, or where the data folder cannot be used
 */
export function lockStopped(dataDir: string, why: string): { readonly release: () => void } {
  const lock = lockInstance(dataDir, process.pid);
  if (lock.kind === 'held') return lock;
  if (lock.isRunning) throw new VerbError('running', `${STOP_FIRST} ${why}`);
  throw new VerbError('failed', lock.message);
}

/** Tells whether a setting holds a key, by its name or as an address with a password. */
function isSecret(name: string, value: string): boolean {
  return isSecretSetting(name, value) || secretValues({ [name]: value }).length > 0;
}

/** Makes the error of a verb of what a backup says is wrong; others stay as they are. */
export function inVerbWords(error: unknown): unknown {
  if (error instanceof BackupError) return new VerbError('failed', error.message);
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOENT' || code === 'ENOSPC' || code === 'EACCES') {
    return new VerbError('failed', `${(error as Error).message}.`);
  }
  return error;
}

/** Reads the keys that a call names: `--identity <file>` and `--passphrase`. */
export async function keysOf(call: VerbCall, projectDir: string): Promise<BackupKeys> {
  const { identity, passphrase } = call.options;
  const identities =
    typeof identity === 'string' ? await readIdentities(resolve(projectDir, identity)) : [];
  return {
    identities,
    passphrase: passphrase === true ? await askPassphrase(call, 'Passphrase of the backup') : null,
  };
}

async function readIdentities(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new VerbError('usage', `${path} cannot be read: ${error.message}.`);
  });
  const lines = text.split('\n').map((line) => line.trim());
  const found = lines.filter((line) => line.startsWith('AGE-SECRET-KEY-'));
  if (found.length > 0) return found;
  throw new VerbError(
    'usage',
    `${path} holds no line that begins with AGE-SECRET-KEY-. Name the file that \`age-keygen\` has written.`,
  );
}

/** Reads a passphrase: on a terminal without showing it, else the first line that comes in. */
export async function askPassphrase({ stdin }: VerbCall, question: string): Promise<string> {
  const isTerminal = (stdin as NodeJS.ReadStream).isTTY === true;
  if (isTerminal) process.stderr.write(`${question}: `);
  const reader = createInterface({ input: stdin, terminal: isTerminal, crlfDelay: Infinity });
  const line = await new Promise<string | null>((resolveLine) => {
    reader.once('line', resolveLine);
    reader.once('close', () => resolveLine(null));
  });
  reader.close();
  if (isTerminal) process.stderr.write('\n');
  if (line !== null && line.length >= 8) return line;
  throw new VerbError('usage', 'A passphrase has 8 characters or more. Several words are best.');
}

/** Returns the words of a size. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.max(1, Math.round(bytes / 1_000))} KB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

/** Returns a moment in words, in UTC, as in the names of the files. */
export function momentWords(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Returns the path of the file that a call names: as given, or by its name in `data/backups/`. */
export function backupPath(word: string, projectDir: string, folder: string): string {
  return word.includes('/') ? resolve(projectDir, word) : join(folder, word);
}

const Verified = z.object({
  data: z.object({ damaged: z.array(z.string()) }).nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

/** Has the engine look at the restored code beside the installation: at what it keeps, and what it pins. */
export async function verifyCode(
  staged: string,
  { wanted }: Unpacked,
  call: VerbCall,
): Promise<void> {
  if (!wanted.some(({ path }) => path === 'project/.claw/state.yaml')) return;
  call.progress('Checking the code of the backup');
  const claw = join(import.meta.dirname, '../../../bin/claw.js');
  const args = [claw, 'verify', '--json', '--cwd', staged];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: staged,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: unknown) => ({ stdout: String(Object(error)['stdout'] ?? '') }));
  const { data, error } = Verified.catch({ data: null, error: null }).parse(jsonOf(stdout));
  const damaged = data?.damaged ?? [];
  if (damaged.length > 0) {
    throw new VerbError(
      'failed',
      `claw verify refuses the code in the backup: ${damaged.slice(0, 3).join(', ')} is not what it pins. Nothing was changed. Restore without it: --only database,memory,groups,sessions`,
    );
  }
  if (data === null)
    call.progress(`claw verify could not look at it: ${error?.message ?? 'no result'}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
