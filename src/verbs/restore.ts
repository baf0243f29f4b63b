import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { compareLinks } from '../channels/whatsapp/session/link-comparison.ts';
import {
  type BackupFacts,
  PARTS,
  type Part,
  SAVED_MOUNTS,
} from '../store/backup/archive-format.ts';
import { backupsFolder } from '../store/backup/kept-backups.ts';
import { instanceOf } from '../store/backup/make-backup.ts';
import {
  type Life,
  type Places,
  planRestore,
  type RestorePlan,
  type Unpacked,
  unpackBackup,
} from '../store/backup/restore.ts';
import { finishSwap, publishSwap, swapFolder } from '../supervisor/restore-swap.js';
import { defineVerb, type VerbCall, type VerbEnd, VerbError } from '../verb.ts';
import {
  BACKUP_SETTINGS,
  type BackupSettings,
  backupPath,
  type Installation,
  inVerbWords,
  keysOf,
  lockBySettings,
  lockStopped,
  momentWords,
  saveInstallation,
  verifyCode,
} from './backup/installation.ts';

/** Puts a backup in the place of what is here. */
export const verb = defineVerb({
  name: 'restore',
  help: 'bring an installation back from a backup, here or on another machine',
  usage: { argument: '<file>', help: 'the backup, by its path or its name in data/backups' },
  options: [
    {
      flags: '--take-over',
      help: 'connect its channels at the next start, because the other one is gone',
    },
    { flags: '--as-new', help: 'make it another assistant, without links and logins' },
    { flags: '--only <parts>', help: `only these parts, with commas: ${PARTS.join(', ')}` },
    { flags: '--identity <file>', help: 'the file with the secret key of an encrypted backup' },
    { flags: '--passphrase', help: 'ask for the passphrase of an encrypted backup' },
  ],
  settings: BACKUP_SETTINGS,
  create:
    ({ projectDir, dataDir, now, settings }) =>
    async (call) => {
      const lock = lockStopped(dataDir, 'A restore replaces its data.');
      try {
        return await restore({ projectDir, dataDir, now }, call, settings);
      } catch (error) {
        throw inVerbWords(error);
      } finally {
        lock.release();
      }
    },
});

async function restore(
  place: Installation,
  call: VerbCall,
  settings: BackupSettings,
): Promise<VerbEnd> {
  const { projectDir, dataDir, now } = place;
  const life = lifeOf(call);
  const only = onlyOf(call);
  const [word = ''] = call.words;
  const file = backupPath(word, projectDir, backupsFolder(dataDir));
  if (!existsSync(file))
    throw new VerbError('usage', `${file} does not exist. See: npx claw backup list`);
  const keys = await keysOf(call, projectDir);
  if (finishSwap(projectDir)) call.progress('A restore that was cut short is finished first');
  const release = lockEngine(projectDir);
  const id = randomUUID();
  const folders = foldersOf(place, id);
  try {
    sweep(place);
    call.progress('Unpacking and checking the backup');
    const unpacked = await unpackBackup(
      file,
      keys,
      folders.staged,
      (part) => only === null || only.has(part),
    );
    await verifyCode(folders.staged.projectDir, unpacked, call);
    const hasDatabase = existsSync(join(dataDir, 'claw.db'));
    const plan = await planRestore(unpacked, {
      live: place,
      staged: folders.staged,
      aside: folders.aside,
      only,
      life,
      compareLinks,
      liveInstance: hasDatabase ? await instanceOf(dataDir) : null,
      newInstance: id,
      now: now(),
    });
    if (hasDatabase) await askFirst(call, unpacked.facts, plan);
    // Also a clone that nothing has run in yet may hold edits of the owner's.
    const replaces = hasDatabase || plan.steps.some(({ to }) => existsSync(to));
    const saved = replaces ? await saveFirst(place, call, settings) : null;
    const keptIn = join(dataDir, `before-restore-${id.slice(0, 8)}`);
    // What a backup without keys does not hold is not deleted.
    const isKept = saved?.kind === 'damaged' || only?.has('other') === true;
    const isEnvReplaced = await keepEnvironment(projectDir, keptIn, plan);
    publishSwap(projectDir, {
      dataDir,
      steps: plan.steps,
      leftovers: isKept ? [] : [folders.data],
    });
    if (isKept && existsSync(folders.aside.dataDir)) {
      await rename(folders.aside.dataDir, isEnvReplaced ? join(keptIn, 'data') : keptIn);
    }
    rmSync(folders.data, { recursive: true, force: true });
    const kept = {
      savedAs: saved?.kind === 'saved' ? saved.file : null,
      keptIn: isKept || isEnvReplaced ? keptIn : null,
    };
    return {
      data: {
        file,
        facts: unpacked.facts,
        files: unpacked.wanted.length,
        replaced: plan.steps.length,
        code: plan.code,
        dropped: unpacked.dropped,
        isFenced: plan.isFenced,
        ...kept,
        notes: plan.notes,
      },
      lines: linesOf(file, unpacked, plan, life, kept),
    };
  } finally {
    // A swap that has begun is finished at the next start; its folders are its own.
    if (!existsSync(join(swapFolder(projectDir), 'journal.json'))) sweep(place);
    release();
  }
}

/** Copies an `.env` that is replaced: its keys are in no backup that is not encrypted. */
async function keepEnvironment(
  projectDir: string,
  keptIn: string,
  { steps }: RestorePlan,
): Promise<boolean> {
  const path = join(projectDir, '.env');
  if (!existsSync(path) || !steps.some(({ to }) => to === path)) return false;
  await mkdir(keptIn, { recursive: true, mode: 0o700 });
  await copyFile(path, join(keptIn, '.env'));
  return true;
}

function lifeOf({ options }: VerbCall): Life {
  const [isNew, takesOver] = [options['asNew'] === true, options['takeOver'] === true];
  if (isNew && takesOver) throw new VerbError('usage', 'Choose --as-new or --take-over, not both.');
  return isNew ? 'new' : takesOver ? 'take-over' : 'fenced';
}

function onlyOf({ options: { only } }: VerbCall): ReadonlySet<Part> | null {
  if (typeof only !== 'string') return null;
  const names = only.split(',').map((name) => name.trim());
  const parts = names.map((name) => PARTS.find((part) => part === name));
  const wrong = names.find((_, at) => parts[at] === undefined);
  if (wrong !== undefined) {
    throw new VerbError('usage', `"${wrong}" is not part of a backup. Parts: ${PARTS.join(', ')}.`);
  }
  return new Set(parts.filter((part): part is Part => part !== undefined));
}

/** The folders of one restore: on the disk of the project, and on that of the data. */
function foldersOf({ projectDir, dataDir }: Installation, id: string) {
  const project = join(swapFolder(projectDir), id);
  const data = join(dataDir, 'restoring', id);
  const at = (name: string): Places => ({
    projectDir: join(project, name),
    dataDir: join(data, name),
  });
  return { data, staged: at('new'), aside: at('old') };
}

function sweep({ projectDir, dataDir }: Installation): void {
  rmSync(swapFolder(projectDir), { recursive: true, force: true });
  rmSync(join(dataDir, 'restoring'), { recursive: true, force: true });
}

/** Keeps other commands from changing the code meanwhile, in the way in which they lock each other out. */
function lockEngine(projectDir: string): () => void {
  const folder = join(projectDir, '.claw');
  if (!existsSync(folder)) return () => {};
  const open = existsSync(join(folder, 'tx')) ? readdirSync(join(folder, 'tx')) : [];
  if (open.some((name) => /^\d{6}-/.test(name))) {
    throw new VerbError(
      'failed',
      'Another claw command was cut short. Finish it first: npx claw status',
    );
  }
  const database = new Database(join(folder, 'lock.db'), { timeout: 500 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch {
    database.close();
    throw new VerbError('failed', 'Another claw command is running. Wait for it to finish.');
  }
  return () => {
    rmSync(join(folder, 'lock.db'), { force: true });
    database.close();
  };
}

async function askFirst(call: VerbCall, facts: BackupFacts, { code }: RestorePlan): Promise<void> {
  const files = sourcesOf(code.written).length + sourcesOf(code.removed).length;
  const sources = files === 0 ? '' : ` ${counted(files, 'source file')} will change.`;
  const answer = await call.consent(
    `Replace what is here with the backup of ${momentWords(facts.createdAt)}? What is here is saved first.${sources}`,
  );
  if (answer === 'yes') return;
  throw new VerbError(
    'failed',
    answer === 'no'
      ? 'Nothing was changed.'
      : 'There is an installation here. To replace it with the backup, add --yes: what is here is saved first.',
  );
}

type Saved = { readonly kind: 'saved'; readonly file: string } | { readonly kind: 'damaged' };

/** Saves what is there. A database that is damaged cannot be saved so, and is kept as it is. */
async function saveFirst(
  place: Installation,
  call: VerbCall,
  settings: BackupSettings,
): Promise<Saved> {
  call.progress('Saving what is here');
  try {
    const lock = lockBySettings(settings);
    const { file } = await saveInstallation(place, {
      settings,
      reason: 'restore',
      lock,
      signal: call.signal,
    });
    return { kind: 'saved', file };
  } catch (error) {
    if (error instanceof VerbError && / is damaged /.test(error.message))
      return { kind: 'damaged' };
    throw error;
  }
}

/** Leaves out what claw itself keeps beside the sources. */
function sourcesOf(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !path.startsWith('project/.claw/'));
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function linesOf(
  file: string,
  { facts, files, wanted, dropped }: Unpacked,
  { code, notes, isFenced, steps }: RestorePlan,
  life: Life,
  { savedAs, keptIn }: { readonly savedAs: string | null; readonly keptIn: string | null },
): readonly string[] {
  const [written, removed] = [sourcesOf(code.written), sourcesOf(code.removed)];
  const hasNewEnv = steps.some(({ to }) => basename(to) === '.env');
  const hasMounts = wanted.some(({ path }) => path === SAVED_MOUNTS);
  const packages = code.written.some((path) => path === 'project/package-lock.json');
  return [
    `Restored ${counted(wanted.length, 'file')} of ${file}, made ${momentWords(facts.createdAt)}.`,
    ...(written.length + removed.length === 0
      ? []
      : [`Code: ${counted(written.length, 'source file')} written, ${removed.length} removed.`]),
    ...(packages ? ['The next `npm start` installs the packages of that version.'] : []),
    ...(dropped.turns + dropped.messages === 0
      ? []
      : [
          `${dropped.turns} questions had no answer yet and ${dropped.messages} messages were not sent yet when it was made. They are not done again: somebody may have had them since.`,
        ]),
    ...notes,
    ...(hasMounts
      ? [
          'The list of shared folders is in data/mounts-of-backup.yaml. It counts once you copy it to ~/.config/patchclaw/mounts.yaml: look first whether these folders are here.',
        ]
      : []),
    ...(wanted.length === files.length ? facts.leftOut : []),
    ...(hasNewEnv && !facts.hasSecrets
      ? [
          'Keys that were left out are named in .env. Write their values there, or run: npx claw setup',
        ]
      : []),
    ...(savedAs === null ? [] : [`What was here is saved: ${savedAs}`]),
    ...(keptIn === null ? [] : [`What no backup holds of it is kept: ${keptIn}`]),
    ...(isFenced
      ? [
          'Its channels stay silent, since another assistant may still run on the same accounts. Stop that one, start this one, and say /resume here in the terminal.',
        ]
      : []),
    ...(life === 'take-over'
      ? ['If WhatsApp cannot read messages, link it anew: npx claw setup whatsapp']
      : []),
    'Start it: npm start',
  ];
}
