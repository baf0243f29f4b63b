import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { nearestNames } from '../lib/nearest-names.ts';
import { REASONS } from '../store/backup/archive-format.ts';
import { backupsFolder, listBackups, prune } from '../store/backup/kept-backups.ts';
import { verifyBackup } from '../store/backup/make-backup.ts';
import type { BackupLock } from '../store/backup/packed-stream.ts';
import { defineVerb, type VerbCall, type VerbEnd, VerbError } from '../verb.ts';
import { typed } from './assistant/assistant-answer.ts';
import { drill } from './backup/drill.ts';
import {
  askPassphrase,
  BACKUP_SETTINGS,
  type BackupSettings,
  backupPath,
  type Installation,
  inVerbWords,
  keysOf,
  lockBySettings,
  momentWords,
  saveInstallation,
  sizeWords,
} from './backup/installation.ts';

/** Saves all of an installation into one file, and looks after those files. */
export const verb = defineVerb({
  name: 'backup',
  help: 'save conversations, memory, settings and code in one file',
  usage: {
    argument: '[folder-or-action...]',
    help: 'a folder for the file (data/backups by default), a new one as ./name; or `list`; or `verify <file>`',
  },
  options: [
    { flags: '--to <recipients...>', help: 'encrypt it for these public keys of age' },
    { flags: '--passphrase', help: 'encrypt it with a passphrase, which you are asked for' },
    { flags: '--no-secrets', help: 'leave keys and logins out of an encrypted backup too' },
    { flags: '--no-media', help: 'leave out the files that people have sent' },
    { flags: '--keep <n>', help: 'afterwards delete all but the newest n backups in that folder' },
    {
      flags: '--drill',
      help: 'restore the newest backup in another folder, start it, ask it something, delete it',
    },
    {
      flags: '--identity <file>',
      help: 'the file with the secret key, to verify an encrypted backup',
    },
    { flags: '--reason <reason>', help: 'a word for the file name that says why (default: asked)' },
  ],
  settings: BACKUP_SETTINGS,
  create:
    ({ projectDir, dataDir, now, settings }) =>
    async (call) => {
      const [word, file, ...rest] = call.words;
      const place = { projectDir, dataDir, now };
      if (rest.length > 0) throw usage();
      if (call.options['drill'] === true) return drill(place, call).catch(rethrow);
      if (word === 'list') return list(place, file);
      if (word === 'verify') return verify(place, call, file);
      if (file !== undefined) throw usage(word);
      if (word !== undefined) refuseBareWord(place, word);
      return make(place, call, settings, word);
    },
});

function rethrow(error: unknown): never {
  throw inVerbWords(error);
}

const CALLS: Readonly<Record<string, string>> = {
  list: 'npx claw backup list',
  verify: 'npx claw backup verify <file>',
  drill: 'npx claw backup --drill',
};

function usage(word = ''): VerbError {
  const [meant] = nearestNames(word.toLowerCase(), Object.keys(CALLS), 1);
  return new VerbError(
    'usage',
    meant === undefined
      ? 'Write `claw backup [folder]`, `claw backup --drill`, `claw backup list [folder]` or `claw backup verify <file>`.'
      : `Did you mean \`${CALLS[meant]}\`?`,
  );
}

/** Refuses to make a folder of a single word: it may be a misspelled action. */
function refuseBareWord({ projectDir }: Installation, word: string): void {
  if (/[/\\]/.test(word) || existsSync(resolve(projectDir, word))) return;
  const [meant] = nearestNames(word.toLowerCase(), Object.keys(CALLS), 1);
  const hint = meant === undefined ? '' : ` Did you mean \`${CALLS[meant]}\`?`;
  throw new VerbError(
    'usage',
    `There is no folder ${word}.${hint} To save into a new folder of that name: npx claw backup ${typed([`./${word}`])}`,
  );
}

async function make(
  place: Installation,
  call: VerbCall,
  settings: BackupSettings,
  word: string | undefined,
): Promise<VerbEnd> {
  const folder =
    word === undefined ? backupsFolder(place.dataDir) : resolve(place.projectDir, word);
  if (!existsSync(place.dataDir)) {
    throw new VerbError('failed', `${place.dataDir} does not exist: there is nothing to save yet.`);
  }
  const keep = keepOf(call);
  const made = await saveInstallation(place, {
    settings,
    folder,
    reason: reasonOf(call),
    lock: await lockOf(call, settings),
    withSecrets: call.options['secrets'] !== false,
    withMedia: call.options['media'] !== false,
    signal: call.signal,
  });
  // Backups elsewhere are the owner's to delete.
  const isOwn = folder === backupsFolder(place.dataDir);
  const deleted = isOwn || keep !== null ? prune(folder, place.now(), keep) : [];
  await runAfter(settings.BACKUP_AFTER, made.file, place.projectDir);
  const { facts, files, file, sizeBytes } = made;
  return {
    data: { file, sizeBytes, files: files.length, facts, deleted: deleted.map(({ name }) => name) },
    lines: [
      `Backup: ${file} (${sizeWords(sizeBytes)}, ${files.length} files).`,
      ...facts.leftOut,
      ...(facts.hasSecrets ? [] : ['To save keys as well: npx claw backup --passphrase']),
      ...(deleted.length === 0 ? [] : [`Old backups deleted: ${deleted.length}.`]),
    ],
  };
}

function keepOf({ options: { keep } }: VerbCall): number | null {
  if (keep === undefined) return null;
  if (typeof keep === 'string' && /^[1-9]\d{0,3}$/.test(keep)) return Number(keep);
  throw new VerbError('usage', '--keep takes a number from 1 on.');
}

function reasonOf({ options: { reason = 'manual' } }: VerbCall) {
  const known = REASONS.find((one) => one === reason);
  if (known !== undefined) return known;
  throw new VerbError('usage', `--reason is one of ${REASONS.join(', ')}.`);
}

async function lockOf(call: VerbCall, settings: BackupSettings): Promise<BackupLock> {
  const { to, passphrase } = call.options;
  if (passphrase === true) {
    if (to !== undefined) {
      throw new VerbError('usage', 'Encrypt it with --to or with --passphrase, not with both.');
    }
    return { kind: 'passphrase', passphrase: await askPassphrase(call, 'New passphrase') };
  }
  if (!Array.isArray(to)) return lockBySettings(settings);
  const recipients = to.flatMap((one) => String(one).split(/[\s,]+/)).filter((one) => one !== '');
  return { kind: 'recipients', recipients };
}

/** Hands a new backup to the owner's own command. */
async function runAfter(command: string | undefined, file: string, cwd: string): Promise<void> {
  if (command === undefined) return;
  try {
    await promisify(execFile)('sh', ['-c', command, 'sh', file], {
      cwd,
      env: { ...process.env, BACKUP_FILE: file },
      maxBuffer: 16 * 1024 * 1024,
    });
  } catch (error) {
    const said = String(Object(error)['stderr'] ?? '').trim() || String(error);
    throw new VerbError(
      'failed',
      `The backup is made: ${file}. But the command in BACKUP_AFTER failed: ${said.slice(-500)}`,
    );
  }
}

async function list(place: Installation, word: string | undefined): Promise<VerbEnd> {
  const folder =
    word === undefined ? backupsFolder(place.dataDir) : resolve(place.projectDir, word);
  if (word !== undefined && !existsSync(folder)) {
    throw new VerbError('usage', `There is no folder ${folder}.`);
  }
  const backups = listBackups(folder);
  return {
    data: { folder, backups: backups.map(({ file: _, ...backup }) => backup) },
    lines:
      backups.length === 0
        ? [`No backups in ${folder}. Make one: npx claw backup`]
        : backups.map(({ name, createdAt, sizeBytes, isLocked }) => {
            const lock = isLocked ? ', encrypted' : '';
            return `${name}  ${momentWords(createdAt)}, ${sizeWords(sizeBytes)}${lock}`;
          }),
  };
}

async function verify(
  { projectDir, dataDir }: Installation,
  call: VerbCall,
  word: string | undefined,
): Promise<VerbEnd> {
  if (word === undefined) throw usage();
  const file = backupPath(word, projectDir, backupsFolder(dataDir));
  if (!existsSync(file))
    throw new VerbError('usage', `${file} does not exist. See: npx claw backup list`);
  const keys = await keysOf(call, projectDir);
  try {
    const { facts, files } = await verifyBackup(file, keys);
    const rows = Object.values(facts.rows).reduce((sum, one) => sum + one, 0);
    return {
      data: { file, facts, files: files.length },
      lines: [
        `${file} is whole: ${files.length} files, each with the digest that it had.`,
        `Made ${momentWords(facts.createdAt)} by version ${facts.version}; ${rows} rows in the database.`,
        ...facts.leftOut,
      ],
    };
  } catch (error) {
    throw inVerbWords(error);
  }
}
