/**
 * Publishes, finishes and takes back transactions. This one file must work when nothing else of the
 * project does (a half-swapped `node_modules`, an engine that is being updated), so it imports
 * Node's built-ins only and runs on any Node >= 18.
 *
 * It stays one file, long as it is. An update replaces file by file: killed between two of its parts it would leave a
 * new one beside an old one, and the recovery that is to finish this update would not load. One file is replaced by one
 * rename. Its parts, from above: what verbs call, seals and journals, paths, the holder of the lock, steps forward and
 * back, the lock, and the class `Project`, through which every path is reached.
 *
 * A transaction `<id>` keeps, by the number n of each step:
 *
 *     .claw/tx/<id>/new/n          the staged file; gone once it is published
 *     .claw/tx/<id>/old/n          a copy of the target, from before the journal
 *     .claw/backup/<id>/before/n   the target's own inode, linked just before it was replaced
 *     .claw/backup/<id>/after/n    what was published, for undo
 *     .claw/backup/<id>/swap/n     the folder that was swapped out
 *
 * Three functions go back:
 *
 *     rollBack   undoes the newest finished transaction, after checks: marks it as going back, then takeBack
 *     turnBack   marks an unfinished one as going back, by a rename of its journal; changes no target
 *     takeBack   puts back every target of a transaction that is marked
 *
 * Every step can be repeated at any point of its way in either direction, and reads from disk how
 * far it came. So a kill in here needs nothing but another run.
 *
 * A project can come from a stranger, with a `.claw/` of the stranger's. Two rules keep its contents harmless:
 *
 *     seal      a journal counts only in the folder and on the machine that wrote it. Its seal is made with a
 *               secret in the user's own home, and with the inode and birth time of the project's folder.
 *               A foreign journal is reported and left alone until the owner decides.
 *     beneath   each path of a step stays inside the project, and no folder on the way to it is a link at the
 *               moment of use: each is opened without following links, and named by its descriptor.
 *
 * @typedef {import('./journal.ts').Journal} Journal
 * @typedef {import('./journal.ts').JournalStep} JournalStep
 * @typedef {import('./journal.ts').Holder} Holder
 * @typedef {import('./journal.ts').Recovery} Recovery
 * @typedef {import('./journal.ts').Decision} Decision
 * @typedef {import('./journal.ts').Fingerprint} Fingerprint
 * @typedef {Extract<JournalStep, { kind: 'file' }>} FileStep
 * @typedef {Extract<JournalStep, { kind: 'swap' }>} SwapStep
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const KEPT_BACKUPS = 10;
const ID = /^\d{6}-/;
const NOT_A_FILE = /** @type {const} */ ({ digest: 'sha256:none', isExecutable: false });
const TX = '.claw/tx';
const BACKUP = '.claw/backup';
const HOLDER = '.claw/cache/holder.json';
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = fs.constants;
/** Parts of `.claw/` that only claw writes: none of them, and nothing on the way to them, is ever a link. */
const OWN_PLACES = [
  '',
  'backup',
  'base',
  'cache',
  'cache/holder.json',
  'cache/proof',
  'composed',
  'custom',
  'lock.db',
  'packages',
  'pending',
  'resolutions',
  'state.yaml',
  'tx',
  '.gitattributes',
  '.gitignore',
];
/** Folders that claw keeps for itself; no step publishes into them. */
const PRIVATE = /^\.claw\/(tx|backup|cache|pending)(\/|$)/;
const MAX_HOLDER_BYTES = 4096;
const MAX_STEPS = 1_000_000;

/**
 * Tells whether a transaction was left unfinished, or is running. Not an operation that waits for decisions
 * (`.claw/pending/`).
 *
 * The name has to stay: `bin/claw.js` asks for it, and a killed update may leave one of the two old and the
 * other new. `claw` could then not finish that update. The same holds for `recover`.
 *
 * @param {string} root
 */
export function hasPending(root) {
  return transactionIds(root, TX).length > 0;
}

/**
 * Finishes what a killed command left: forward, or back where it was already going back.
 *
 * A target that is neither old nor new holds an owner's edit. It stays as it is, the others are
 * published, and the outcome is `needs-decision` until a decision is given. With a `state.yaml` of
 * another branch nothing is touched, nor by a journal that was not written here.
 *
 * @param {string} root
 * @param {Decision | null} [decision] `adopt` seals journals and records that were written elsewhere, and goes on
 *   as without a decision
 * @param {{ isLocked?: boolean, timeoutMs?: number }} [options] `isLocked`: the caller has the lock
 * @returns {Recovery}
 */
export function recover(root, decision = null, options = {}) {
  if (!hasPending(root) && decision !== 'adopt') return recovery('nothing');
  const work = () => {
    const adopted = decision === 'adopt' ? adopt(root) : 0;
    let last = recovery(adopted > 0 ? 'adopted' : 'nothing');
    /** @type {Recovery | null} */
    let foreign = null;
    for (const id of transactionIds(root, TX)) {
      const found = inProject(root, (project) =>
        recoverOne(project, id, decision === 'adopt' ? null : decision),
      );
      if (found.reason === 'foreign') foreign ??= found;
      else if (found.outcome === 'needs-decision') return found;
      else if (found.outcome !== 'nothing') last = found;
    }
    return foreign ?? last;
  };
  return options.isLocked ? work() : locked(root, options.timeoutMs ?? 2000, work);
}

/**
 * Puts back what the newest finished transaction replaced, if every target still is what it wrote.
 *
 * @param {string} root
 * @param {string} id
 * @param {{ isLocked?: boolean, timeoutMs?: number }} [options]
 * @returns {{ outcome: 'rolled-back' | 'refused' | 'locked', differs: readonly string[] }} `differs`
 *   names the paths that were changed since; then nothing was done
 */
export function rollBack(root, id, options = {}) {
  const work = () =>
    inProject(root, (project) => {
      const finished = transactionIds(root, BACKUP).filter((name) =>
        project.isThere(`${BACKUP}/${name}/record.json`),
      );
      const journal = readJournal(root, `${BACKUP}/${id}/record.json`);
      if (journal === null || finished.at(-1) !== id) return refused([BACKUP]);
      if (hasPending(root)) return refused([TX]);
      const differs = journal.steps.filter((step, n) => !isUndoable(project, journal, step, n));
      if (differs.length > 0) return refused(differs.map((step) => step.path));
      dropReplaced(project, journal);
      const places = placesOf(id);
      project.makeFolders(places.tx);
      project.rename(`${places.backup}/record.json`, `${places.tx}/rollback.json`);
      syncPath(join(root, places.tx));
      takeBack(root, journal, false);
      return /** @type {const} */ ({ outcome: 'rolled-back', differs: [] });
    });
  const done = options.isLocked ? work() : locked(root, options.timeoutMs ?? 2000, work);
  return 'differs' in done ? done : { outcome: 'locked', differs: [] };
}

/**
 * Publishes every step of a journal. From then on the tree is *after*; `finish` ends the transaction.
 *
 * @param {string} root
 * @param {Journal} journal
 * @param {(step: FileStep, n: number) => boolean} onEdited called for a target that is neither old
 *   nor new, which is left alone; returning false keeps the transaction open
 * @returns {boolean} whether the transaction may end
 */
export function publish(root, journal, onEdited) {
  return inProject(root, (project) => publishIn(project, journal, false, onEdited));
}

/**
 * @param {Project} project @param {Journal} journal
 * @param {boolean} isRecovery then time has passed since the files were staged, and each is checked again
 * @param {(step: FileStep, n: number) => boolean} onEdited
 */
function publishIn(project, journal, isRecovery, onEdited) {
  const needed = new Set(
    journal.steps.flatMap((step) => (isWrite(step) ? parents(step.path) : [])),
  );
  let isComplete = true;
  for (const [n, step] of journal.steps.entries()) {
    if (step.kind === 'swap') publishSwap(project, journal.id, step, n);
    else if (
      !publishFile(project, journal.id, step, n, { isForced: false, isRecovery }) &&
      !onEdited(step, n)
    ) {
      isComplete = false;
    }
    if (!isWrite(step)) removeEmpty(project, parents(step.path), needed);
  }
  syncFolders(project, journal);
  return isComplete;
}

/**
 * Ends a published transaction by one rename; what comes after it is only tidying.
 *
 * @param {string} root @param {string} id
 */
export function finish(root, id) {
  inProject(root, (project) => {
    const { tx, backup } = placesOf(id);
    saveConflicts(project, id);
    project.rename(`${tx}/journal.json`, `${backup}/record.json`);
    try {
      syncPath(join(root, backup));
      project.remove(tx);
      pruneBackups(project);
    } catch {
      // The tree is done. What could not be removed now is swept by the next command.
    }
  });
}

/**
 * Takes back every step, newest first, and forgets the transaction. The journal was renamed to
 * `rollback.json` before, so that a kill in between goes on in this direction.
 *
 * @param {string} root
 * @param {Journal} journal
 * @param {boolean} isForced also over an edit made after publishing, whose text is kept aside
 * @returns {string[]} files in which an owner's edit was met
 */
export function takeBack(root, journal, isForced) {
  return inProject(root, (project) => {
    /** @type {string[]} */
    const kept = [];
    for (const [n, step] of [...journal.steps.entries()].reverse()) {
      if (step.kind === 'swap') takeBackSwap(project, journal.id, step, n);
      else if (!takeBackFile(project, journal, step, n, isForced)) kept.push(step.path);
      const made = parents(step.path).filter((folder) => journal.foldersMade.includes(folder));
      removeEmpty(project, made, new Set());
    }
    syncFolders(project, journal);
    discardIn(project, journal.id);
    return kept;
  });
}

/**
 * Marks a transaction as going back; needs no space on the disk.
 *
 * @param {string} root @param {string} id
 */
export function turnBack(root, id) {
  const { tx } = placesOf(id);
  inProject(root, (project) => project.rename(`${tx}/journal.json`, `${tx}/rollback.json`));
  try {
    syncPath(join(root, tx));
  } catch {
    // A power failure may bring the journal back, and with it the other whole tree: never a mixed one.
  }
}

/**
 * Removes what a transaction kept that did not happen. The folder in `tx/` goes last: it is what a
 * later recovery finds.
 *
 * @param {string} root
 * @param {string} id
 */
export function discard(root, id) {
  inProject(root, (project) => discardIn(project, id));
}

/** @param {Project} project @param {string} id */
function discardIn(project, id) {
  const { tx, backup } = placesOf(id);
  project.remove(`${tx}/rollback.json`);
  if (!project.isThere(`${backup}/record.json`)) {
    for (const part of ['before', 'after', 'swap']) project.remove(`${backup}/${part}`);
    saveConflicts(project, id);
    removeEmpty(project, [backup], new Set());
  }
  project.remove(tx);
}

/** Removes a backup that is no transaction's any more, record first. @param {string} root @param {string} id */
export function removeBackup(root, id) {
  inProject(root, (project) => removeBackupIn(project, id));
}

/** @param {Project} project @param {string} id */
function removeBackupIn(project, id) {
  const { backup } = placesOf(id);
  project.remove(`${backup}/record.json`);
  project.remove(backup);
}

/**
 * Forgets a finished transaction. What it was joined of goes first: without it, that would count again.
 *
 * @param {string} root
 * @param {string} id
 */
export function dropBackup(root, id) {
  inProject(root, (project) => dropBackupIn(project, id));
}

/** @param {Project} project @param {string} id */
function dropBackupIn(project, id) {
  dropReplaced(project, readJournal(project.root, `${BACKUP}/${id}/record.json`));
  removeBackupIn(project, id);
}

/**
 * Lists the transactions in `.claw/backup` that a later record replaces.
 *
 * @param {string} root
 * @returns {ReadonlySet<string>}
 */
export function replacedIds(root) {
  const ids = transactionIds(root, BACKUP);
  const records = ids.map((id) => readJournal(root, `${BACKUP}/${id}/record.json`));
  return new Set(records.flatMap((journal) => journal?.replaces ?? []));
}

/** @param {Project} project @param {Journal | null} journal */
function dropReplaced(project, journal) {
  for (const id of journal?.replaces ?? []) dropBackupIn(project, id);
}

/**
 * Reads a journal or a record that was written in this folder, on this machine.
 *
 * @param {string} root
 * @param {string} place relative to the root, such as `.claw/backup/<id>/record.json`
 * @returns {Journal | null} null if it is missing, torn, altered or foreign
 */
export function readJournal(root, place) {
  const { journal, isOwn } = examineJournal(root, place);
  return isOwn ? journal : null;
}

/**
 * Reads a journal or a record, and tells whether it was written in this folder, on this machine.
 *
 * @param {string} root
 * @param {string} place
 * @returns {{ readonly journal: Journal | null, readonly isOwn: boolean }} no journal if it is missing, torn or
 *   altered, or has a path that leads out of the project
 */
export function examineJournal(root, place) {
  return inProject(root, (project) => {
    const text = project.read(place);
    const [json = '', checksum, seal = ''] = text === null ? [] : text.split('\n');
    if (text === null || digest(json) !== checksum) return { journal: null, isOwn: false };
    const journal = parseJournal(json);
    if (journal === null || journal.id !== place.split('/').at(-2)) {
      return { journal: null, isOwn: false };
    }
    return { journal, isOwn: isSealed(root, 'journal', json, seal) };
  });
}

/**
 * Makes the seal of something that counts only in this folder, on this machine, for this user.
 *
 * The inode and the birth time of the folder tell it from a copy, the secret in the user's home tells this
 * machine from others. Without a home that can be written the first two must do; a system that lets programs set
 * a birth time (macOS), or knows none, has no seal then.
 *
 * @param {string} root
 * @param {string} subject what is sealed, so that no seal serves for something else
 * @param {string} text
 * @param {{ readonly makesSecret?: boolean }} [options] a first seal makes the secret; a check does not
 * @returns {string | null} null where nothing can be sealed
 */
export function sealOf(root, subject, text, { makesSecret = true } = {}) {
  const secret = readSecret() ?? (makesSecret ? makeSecret() : null);
  const { ino, birthtimeNs } = fs.statSync(root, { bigint: true });
  if (secret === null && (birthtimeNs === 0n || process.platform !== 'linux')) return null;
  const facts = [subject, ino, birthtimeNs, text].join('\0');
  return createHmac('sha256', secret ?? '')
    .update(facts)
    .digest('hex');
}

/**
 * Tells whether a seal was made here.
 *
 * @param {string} root @param {string} subject @param {string} text @param {string} seal
 */
export function isSealed(root, subject, text, seal) {
  const wanted = sealOf(root, subject, text, { makesSecret: false });
  if (wanted === null || wanted.length !== seal.length) return false;
  return timingSafeEqual(Buffer.from(wanted), Buffer.from(seal.padEnd(wanted.length)));
}

/**
 * Identifies the file at a path; null for none, and for a folder. A link or a device has a digest that equals
 * nothing: no link is followed, no FIFO waited for.
 *
 * @param {string} path
 * @returns {Fingerprint}
 */
export function fingerprint(path) {
  let file;
  try {
    file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = fs.fstatSync(file);
    if (stat.isDirectory()) return null;
    if (!stat.isFile()) return NOT_A_FILE;
    return { digest: digest(fs.readFileSync(file)), isExecutable: (stat.mode & 0o100) !== 0 };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP' || code === 'ENXIO') return NOT_A_FILE; // a link; a socket
    throw error;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

/**
 * Tells whether a step may have this path: inside the project, and neither git's nor what claw keeps for itself.
 *
 * @param {string} path
 */
export function isSafePath(path) {
  return (
    isInside(path) && !PRIVATE.test(path) && !path.split('/').some((part) => /^\.git$/i.test(part))
  );
}

/**
 * Returns the first part of `.claw/` that is a link, or leads through one; null where all are what claw makes.
 * In `cache/` and `pending/` everything counts, as files are written there by names that can be guessed.
 *
 * @param {string} root
 * @returns {string | null} relative to the root
 */
export function linkInOwnFolder(root) {
  const link = inProject(root, (project) =>
    OWN_PLACES.map((name) => (name === '' ? '.claw' : `.claw/${name}`)).find((place) =>
      project.lstat(place)?.isSymbolicLink(),
    ),
  );
  return link ?? linkBelow(root, '.claw/cache') ?? linkBelow(root, '.claw/pending');
}

/** @param {string} root @param {string} folder @returns {string | null} */
function linkBelow(root, folder) {
  let entries;
  try {
    entries = fs.readdirSync(join(root, folder), { withFileTypes: true });
  } catch {
    return null; // None there, or not for us: what is done with it reports that.
  }
  for (const entry of entries) {
    const place = `${folder}/${entry.name}`;
    // A base that is being prepared holds the release's own files, which may be links.
    if (entry.isSymbolicLink()) return place;
    const isOwn = entry.isDirectory() && !/^\.claw\/cache\/base-/.test(place);
    const found = isOwn ? linkBelow(root, place) : null;
    if (found !== null) return found;
  }
  return null;
}

/**
 * Lists the ids of transactions in a folder, oldest first.
 *
 * @param {string} root
 * @param {string} folder `.claw/tx` or `.claw/backup`
 * @returns {string[]}
 */
export function transactionIds(root, folder) {
  if (!fs.existsSync(join(root, folder))) return [];
  return inProject(root, (project) =>
    project
      .entries(folder)
      .filter((entry) => ID.test(entry.name) && entry.isDirectory())
      .map(({ name }) => name)
      .sort(),
  );
}

/**
 * Lists every name in a folder that an id may not have any more: links and files as well.
 *
 * @param {string} root @param {string} folder `.claw/tx` or `.claw/backup`
 * @returns {string[]} sorted
 */
export function takenIds(root, folder) {
  return inProject(root, (project) => project.entries(folder))
    .map(({ name }) => name)
    .filter((name) => ID.test(name))
    .sort();
}

/** Lists the folders above a relative path, innermost first. @param {string} path */
export function parents(path) {
  const found = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    found.push(path.slice(0, at));
  }
  return found;
}

/** Makes what was written to a file or folder outlive a power failure. @param {string} path */
export function syncPath(path) {
  const file = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** Names the holder of the lock; only the holder may call it. @param {string} root @param {string} verb */
export function writeHolder(root, verb) {
  try {
    const json = JSON.stringify({ pid: process.pid, verb, started: processStart(process.pid) });
    const text = `${json}\n${sealOf(root, 'holder', json) ?? ''}\n`;
    inProject(root, (project) => {
      project.makeFolders('.claw/cache');
      project.write(HOLDER, Buffer.from(text), 0o666);
    });
  } catch {
    // A full disk must not stop a recovery: only the name in a waiting command's message is lost.
  }
}

/**
 * Returns the holder of the lock, as far as a live process names itself in `cache/holder.json`.
 *
 * @param {string} root
 * @returns {Holder | null}
 */
export function liveHolder(root) {
  const holder = readHolder(root);
  if (holder === null) return null;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Its process is gone: the lock is free. EPERM means another user's process.
    if (codeOf(error) !== 'EPERM') return null;
  }
  return processStart(holder.pid) === holder.started ? holder : null;
}

/** @param {string} root @returns {Holder | null} */
function readHolder(root) {
  try {
    const text = inProject(root, (project) => project.read(HOLDER, MAX_HOLDER_BYTES)) ?? '';
    const [json = '', seal = ''] = text.split('\n');
    const { pid, verb, started } = JSON.parse(json);
    // Where nothing can be sealed the name is believed: it decides about waiting, and nothing else.
    const isOwn =
      seal === '' ? sealOf(root, '', '') === null : isSealed(root, 'holder', json, seal);
    const isSound = Number.isSafeInteger(pid) && pid > 0 && /^[a-z-]{1,40}$/.test(verb);
    return isOwn && isSound ? { pid, verb, started } : null;
  } catch {
    return null; // Absent, or half written.
  }
}

/**
 * Returns the start time of a process, in the kernel's ticks since boot; null where the system does not tell.
 *
 * @param {number} pid
 */
export function processStart(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null; // Not Linux, or gone: the number alone has to do.
  }
}

/** @param {Project} project @param {string} id @param {Decision | null} decision @returns {Recovery} */
function recoverOne(project, id, decision) {
  const { root } = project;
  const { tx, backup } = placesOf(id);
  const name = ['rollback.json', 'journal.json'].find((file) => project.isThere(`${tx}/${file}`));
  if (name === undefined) {
    discardIn(project, id);
    return recovery('nothing');
  }
  const { journal, isOwn } = examineJournal(root, `${tx}/${name}`);
  const reason =
    journal === null
      ? 'journal-damaged'
      : !isOwn
        ? 'foreign'
        : isOtherState(project, journal)
          ? 'state-changed'
          : null;
  const facts = { id, verb: journal?.verb ?? null };
  if (reason !== null && decision === 'keep-mine') {
    project.makeFolders(backup);
    project.rename(tx, `${backup}/conflicts`);
    return recovery('rolled-back', { ...facts, kept: ['.claw'] });
  }
  if (journal === null || (reason !== null && decision === null)) {
    return recovery('needs-decision', { ...facts, reason });
  }
  if (name === 'rollback.json' || decision === 'roll-back') {
    if (name === 'journal.json') turnBack(root, id);
    return recovery('rolled-back', {
      ...facts,
      kept: takeBack(root, journal, decision === 'roll-back'),
    });
  }
  /** @type {string[]} */
  const kept = [];
  const isPublished = publishIn(project, journal, true, (step, n) => {
    kept.push(step.path);
    keepVersions(project, id, step.path, n);
    if (decision === 'roll-forward') {
      return publishFile(project, id, step, n, { isForced: true, isRecovery: true });
    }
    if (decision === 'keep-mine') fillBackup(project, id, step, n);
    return decision === 'keep-mine';
  });
  if (isPublished) {
    finish(root, id);
    return recovery('rolled-forward', { ...facts, kept });
  }
  return recovery('needs-decision', { ...facts, kept, reason: 'edited' });
}

/** @param {Project} project @param {Journal} journal */
function isOtherState(project, journal) {
  const state = project.fingerprint('.claw/state.yaml')?.digest ?? null;
  return state !== journal.stateBefore && state !== journal.stateAfter;
}

/**
 * Seals journals and records that were written elsewhere: in the folder that this one is a copy of, by an
 * older claw, or by another user. Only the owner knows that they are to be trusted.
 *
 * @param {string} root
 * @returns {number} how many there were
 */
function adopt(root) {
  let count = 0;
  for (const [folder, names] of [
    [TX, ['journal.json', 'rollback.json']],
    [BACKUP, ['record.json']],
  ]) {
    for (const id of transactionIds(root, String(folder))) {
      for (const name of names ?? []) {
        const place = `${folder}/${id}/${name}`;
        const { journal, isOwn } = examineJournal(root, place);
        if (journal === null || isOwn) continue;
        inProject(root, (project) => {
          project.write(`${place}.new`, Buffer.from(journalText(root, journal)), 0o666);
          project.rename(`${place}.new`, place);
        });
        count += 1;
      }
    }
  }
  return count;
}

/**
 * Returns the text of a journal: one line of JSON, one of checksum, which older engines read as well, and the seal.
 *
 * @param {string} root
 * @param {Journal} journal
 */
export function journalText(root, journal) {
  const json = JSON.stringify(journal);
  return `${json}\n${digest(json)}\n${sealOf(root, 'journal', json) ?? ''}\n`;
}

/**
 * @param {Project} project @param {string} id @param {FileStep} step @param {number} n
 * @param {{ isForced: boolean, isRecovery: boolean }} way `isForced` replaces the target whatever it is
 * @returns {boolean} false if the target is neither old nor new; it was not touched then
 */
function publishFile(project, id, step, n, { isForced, isRecovery }) {
  const { staged, before } = placesOf(id);
  const { path } = step;
  if (project.linkOnWay(path) !== null) return false;
  const now = step.before === null && !project.isThere(path) ? null : project.fingerprint(path);
  if (isSame(now, step.after) || isForced) fillBackup(project, id, step, n);
  else if (!isSame(now, step.before)) return false;
  else if (now !== null) {
    // The link pins the very inode that the rename will replace: what was written to it since the
    // check above is seen here, before it could be lost.
    if (!project.isSameInode(path, before(n))) {
      project.remove(before(n));
      project.link(path, before(n));
    }
    if (!isSame(project.fingerprint(before(n)), step.before)) return false;
  }
  if (isSame(now, step.after)) return true;
  if (isRecovery && step.after !== null) refuseOtherBytes(project, staged(n), step.after);
  if (step.after === null) project.unlink(path);
  else if (now !== null) project.rename(staged(n), path);
  else return publishNew(project, path, staged(n));
  return true;
}

/** @param {Project} project @param {string} staged @param {NonNullable<Fingerprint>} after */
function refuseOtherBytes(project, staged, after) {
  if (project.fingerprint(staged)?.digest === after.digest) return;
  throw new Error(
    `${staged} is not what the interrupted command wrote, so it is not published. ` +
      'Run claw recover --roll-back, or --keep-mine to leave all files as they are.',
  );
}

/** @param {Project} project @param {string} path @param {string} staged */
function publishNew(project, path, staged) {
  makeParents(project, path, {});
  try {
    // A link never replaces what appeared at the target in the meantime; a rename would.
    project.link(staged, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  project.unlink(staged);
  return true;
}

/** @param {Project} project @param {string} id @param {SwapStep} step @param {number} n */
function publishSwap(project, id, step, n) {
  const { swapped } = placesOf(id);
  const { path, prepared } = step;
  if (prepared !== null && !project.isThere(prepared)) return;
  if (project.isThere(path)) {
    // A second folder appeared here (from `npm install`, say) before this transaction was finished.
    const aside = project.isThere(swapped(n)) ? `${swapped(n)}.stray` : swapped(n);
    project.remove(`${swapped(n)}.stray`);
    project.rename(path, aside);
  }
  if (prepared === null) return;
  makeParents(project, path, {});
  project.rename(prepared, path);
}

/**
 * @param {Project} project @param {Journal} journal @param {FileStep} step @param {number} n
 * @param {boolean} isForced
 * @returns {boolean} false if an owner's edit was met
 */
function takeBackFile(project, journal, step, n, isForced) {
  const { staged, before } = placesOf(journal.id);
  const { path } = step;
  const now = project.fingerprint(path);
  if (isSame(now, step.before)) return true;
  const isPublished =
    step.after === null
      ? project.isThere(before(n))
      : !project.isThere(staged(n)) || project.isSameInode(staged(n), path);
  if (!isPublished || project.linkOnWay(path) !== null) return false;
  const isEdited = !isSame(now, step.after);
  if (isEdited) {
    keepVersions(project, journal.id, path, n);
    if (!isForced) return false;
  }
  // A rename, not a link: a full disk must not stop the way back.
  makeParents(project, path, journal.folderModes);
  if (step.before === null) project.remove(path);
  else project.rename(before(n), path);
  return !isEdited;
}

/** @param {Project} project @param {string} id @param {SwapStep} step @param {number} n */
function takeBackSwap(project, id, step, n) {
  const { tx, swapped } = placesOf(id);
  const { path, prepared } = step;
  const isWaiting = prepared !== null && project.isThere(prepared);
  if (step.hadFolder ? !project.isThere(swapped(n)) : prepared === null || isWaiting) return;
  if (project.isThere(path)) {
    // Back to where it was prepared, for another attempt; that place may be gone by now.
    const isHomeThere = prepared !== null && !isWaiting && project.isThere(dirname(prepared));
    project.rename(path, isHomeThere ? prepared : `${tx}/taken-back-${n}`);
  }
  if (step.hadFolder) project.rename(swapped(n), path);
}

/** @param {Project} project @param {Journal} journal @param {JournalStep} step @param {number} n */
function isUndoable(project, journal, step, n) {
  const { before, swapped } = placesOf(journal.id);
  if (step.kind === 'swap') {
    return (
      project.isThere(step.path) === (step.prepared !== null) &&
      (!step.hadFolder || project.isThere(swapped(n)))
    );
  }
  return (
    isSame(project.fingerprint(step.path), step.after) &&
    (step.before === null || project.isThere(before(n)))
  );
}

/** @param {Project} project */
function pruneBackups(project) {
  for (const id of replacedIds(project.root)) removeBackupIn(project, id);
  const newestFirst = transactionIds(project.root, BACKUP).reverse();
  for (const [age, id] of newestFirst.entries()) {
    const holds = (/** @type {string} */ name) => project.isThere(`${BACKUP}/${id}/${name}`);
    if (age >= KEPT_BACKUPS || !(holds('record.json') || holds('conflicts'))) {
      removeBackupIn(project, id);
    } else if (age > 0) pruneSwaps(project, id);
  }
}

/**
 * Deletes swapped-out packages, which are large and can be installed again. Keeps a former core, which may be
 * nowhere else.
 *
 * @param {Project} project @param {string} id
 */
function pruneSwaps(project, id) {
  const swaps = `${BACKUP}/${id}/swap`;
  const kept = project.entries(swaps);
  if (kept.length === 0) return;
  const steps = readJournal(project.root, `${BACKUP}/${id}/record.json`)?.steps ?? [];
  for (const { name } of kept) {
    if (steps[Number(name)]?.path !== '.claw/base') project.remove(`${swaps}/${name}`);
  }
}

/**
 * Lays the old, the new and the owner's text of an edited target side by side.
 *
 * @param {Project} project @param {string} id @param {string} path @param {number} n
 */
function keepVersions(project, id, path, n) {
  const { tx, staged, old, before, after } = placesOf(id);
  const versions = {
    old: [old(n), before(n)],
    new: [staged(n), after(n)],
    mine: [path],
  };
  for (const [name, places] of Object.entries(versions)) {
    const from = places.find((place) => project.lstat(place)?.isFile());
    const to = `${tx}/conflicts/${path}.${name}`;
    project.makeFolders(dirname(to));
    if (from !== undefined) project.copy(from, to);
  }
}

/**
 * Fills the backup from the earlier copy, where the target was replaced or its inode written to meanwhile.
 *
 * @param {Project} project @param {string} id @param {FileStep} step @param {number} n
 */
function fillBackup(project, id, step, n) {
  const { old, before } = placesOf(id);
  if (step.before === null || isSame(project.fingerprint(before(n)), step.before)) return;
  project.copy(old(n), before(n));
}

/** @param {Project} project @param {string} id */
function saveConflicts(project, id) {
  const { tx, backup } = placesOf(id);
  if (!project.isThere(`${tx}/conflicts`)) return;
  project.makeFolders(backup);
  project.rename(`${tx}/conflicts`, `${backup}/conflicts`);
}

/** @param {Project} project @param {Journal} journal */
function syncFolders({ root }, journal) {
  for (const folder of new Set(['.', ...journal.steps.flatMap((step) => parents(step.path))])) {
    syncFolder(join(root, folder));
  }
}

/** Does nothing where there is no folder. @param {string} path */
function syncFolder(path) {
  let folder;
  try {
    folder = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    fs.fsyncSync(folder);
  } catch (error) {
    const isNone = ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String(codeOf(error)));
    if (folder !== undefined || !isNone) throw error;
  } finally {
    if (folder !== undefined) fs.closeSync(folder);
  }
}

/** @param {Project} project @param {string} path @param {Readonly<Record<string, number>>} modes */
function makeParents(project, path, modes) {
  let isMade = false;
  for (const folder of parents(path).reverse()) {
    if (!isMade && project.isThere(folder)) continue;
    project.mkdir(folder);
    isMade = true;
    const mode = modes[folder];
    if (mode !== undefined) project.chmodFolder(folder, mode);
  }
}

/** @param {Project} project @param {readonly string[]} folders @param {ReadonlySet<string>} needed */
function removeEmpty(project, folders, needed) {
  for (const folder of folders) {
    const isFolder = !needed.has(folder) && project.lstat(folder)?.isDirectory() === true;
    if (isFolder && project.entries(folder).length === 0) project.rmdir(folder);
  }
}

/**
 * @template T
 * @param {string} root @param {number} timeoutMs @param {() => T} work
 * @returns {T | Recovery}
 */
function locked(root, timeoutMs, work) {
  const link = linkInOwnFolder(root);
  if (link !== null)
    throw new Error(`${link} is a symbolic link. claw follows none there: remove it.`);
  const sqlite = builtInSqlite();
  if (sqlite === null) {
    const holder = liveHolder(root);
    if (holder !== null) return recovery('locked', { holder });
    writeHolder(root, 'recover');
    return work();
  }
  const until = Date.now() + timeoutMs;
  for (;;) {
    const lock = tryLock(root, sqlite, Math.max(0, until - Date.now()));
    if (lock === null) return recovery('locked', { holder: liveHolder(root) });
    if (lock === 'gone' && Date.now() > until) return recovery('locked', { holder: null });
    if (lock === 'gone') continue;
    try {
      writeHolder(root, 'recover');
      return work();
    } finally {
      lock.close();
    }
  }
}

/**
 * @param {string} root @param {typeof import('node:sqlite')} sqlite @param {number} timeoutMs
 * @returns the lock; null while another command has it; `gone` if its file was removed meanwhile, so that no other
 *   command will ever open it
 */
function tryLock(root, sqlite, timeoutMs) {
  const path = join(root, '.claw/lock.db');
  replaceForeignLock(root);
  if (!fs.existsSync(path)) fs.closeSync(fs.openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o666));
  const inode = () => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
  const expected = inode();
  const db = new sqlite.DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${timeoutMs}; BEGIN EXCLUSIVE`);
    if (expected !== undefined && expected === inode()) return db;
  } catch (error) {
    db.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) return null;
    throw error;
  }
  db.close();
  return 'gone';
}

/**
 * Removes a lock file that claw did not write. Its own is always empty. A database with a journal beside it could
 * make SQLite write back what the journal says, and delete a file that it names.
 *
 * @param {string} root
 */
export function replaceForeignLock(root) {
  inProject(root, (project) => {
    const stat = project.lstat('.claw/lock.db');
    if (stat === undefined || stat.isDirectory() || (stat.isFile() && stat.size === 0)) return;
    for (const name of ['lock.db', 'lock.db-journal', 'lock.db-wal', 'lock.db-shm']) {
      project.remove(`.claw/${name}`);
    }
  });
}

/** Loads SQLite of Node. @returns {typeof import('node:sqlite') | null} null before Node 22 */
export function builtInSqlite() {
  const { emitWarning } = process;
  process.emitWarning = () => {}; // "SQLite is an experimental feature": not the owner's concern
  try {
    return createRequire(import.meta.url)('node:sqlite');
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * The files of a project, by their paths relative to its root. No path leads out of it, and no link is followed
 * on the way: every folder is opened as a folder, and the last one is named by its descriptor (Linux). Elsewhere
 * each folder is looked at just before its use.
 */
class Project {
  /** Folders of `.claw/` that stay open, since most steps use them. @type {Map<string, number>} */
  #open = new Map();
  #hasDescriptors = process.platform === 'linux' && fs.existsSync('/proc/self/fd');

  /** @param {string} root */
  constructor(root) {
    this.root = root;
  }

  /**
   * Calls `work` with an absolute path of an entry.
   *
   * @template T
   * @param {string} path @param {(absolute: string) => T} work
   * @returns {T}
   */
  use(path, work) {
    if (!isInside(path))
      throw new Error(`${JSON.stringify(path)} is not a path inside the project.`);
    const end = path.lastIndexOf('/');
    if (end === -1) return work(join(this.root, path));
    const folder = path.slice(0, end);
    const isKept = PRIVATE.test(folder);
    const descriptor = this.#open.get(folder) ?? this.#openFolder(folder);
    if (isKept) this.#open.set(folder, descriptor);
    const named = this.#nameOf(descriptor, folder);
    try {
      return work(named + path.slice(end));
    } catch (error) {
      throw withPath(error, named, join(this.root, folder));
    } finally {
      if (!isKept) fs.closeSync(descriptor);
    }
  }

  close() {
    for (const descriptor of this.#open.values()) fs.closeSync(descriptor);
    this.#open.clear();
  }

  /** @param {string} path */
  lstat(path) {
    try {
      return this.use(path, (at) => fs.lstatSync(at, { throwIfNoEntry: false }));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Tells whether there is an entry at a path, even a link that leads nowhere. @param {string} path */
  isThere(path) {
    return this.lstat(path) !== undefined;
  }

  /** @param {string} path @returns {Fingerprint} */
  fingerprint(path) {
    try {
      return this.use(path, fingerprint);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** @param {string} one @param {string} other */
  isSameInode(one, other) {
    const [a, b] = [this.lstat(one), this.lstat(other)];
    return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
  }

  /** Returns the first folder on the way to a path that is a symbolic link. @param {string} path */
  linkOnWay(path) {
    for (const folder of parents(path).reverse()) {
      if (this.#open.has(folder)) continue;
      const found = this.lstat(folder);
      if (found?.isSymbolicLink()) return folder;
      if (!found?.isDirectory()) return null;
    }
    return null;
  }

  /** Lists a folder; nothing where there is none. @param {string} path @returns {fs.Dirent[]} */
  entries(path) {
    let folder;
    try {
      folder = this.#openFolder(path);
      return fs.readdirSync(this.#nameOf(folder, path), { withFileTypes: true });
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    } finally {
      if (folder !== undefined) fs.closeSync(folder);
    }
  }

  /** Reads a regular file; null where there is none. @param {string} path @param {number} [maxBytes] */
  read(path, maxBytes = Number.POSITIVE_INFINITY) {
    try {
      return this.use(path, (at) => {
        const file = fs.openSync(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        try {
          const stat = fs.fstatSync(file);
          return stat.isFile() && stat.size <= maxBytes ? fs.readFileSync(file, 'utf8') : null;
        } finally {
          fs.closeSync(file);
        }
      });
    } catch (error) {
      if (isMissing(error) || codeOf(error) === 'ELOOP') return null;
      throw error;
    }
  }

  /** Writes a new file in the place of whatever is there. @param {string} path @param {Buffer} bytes @param {number} mode */
  write(path, bytes, mode) {
    this.remove(path);
    this.use(path, (at) => {
      const file = fs.openSync(at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
      try {
        fs.writeFileSync(file, bytes);
      } finally {
        fs.closeSync(file);
      }
    });
  }

  /** Copies a regular file with its mode. @param {string} from @param {string} to */
  copy(from, to) {
    const { bytes, mode } = this.use(from, (at) => {
      const file = fs.openSync(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        return { bytes: fs.readFileSync(file), mode: fs.fstatSync(file).mode & 0o7777 };
      } finally {
        fs.closeSync(file);
      }
    });
    this.write(to, bytes, mode);
  }

  /** @param {string} from @param {string} to */
  rename(from, to) {
    this.#forget(from);
    this.#forget(to);
    this.use(from, (one) => this.use(to, (other) => fs.renameSync(one, other)));
  }

  /** @param {string} from @param {string} to */
  link(from, to) {
    this.use(from, (one) => this.use(to, (other) => fs.linkSync(one, other)));
  }

  /** @param {string} path */
  unlink(path) {
    this.use(path, (at) => fs.unlinkSync(at));
  }

  /** @param {string} path */
  mkdir(path) {
    this.use(path, (at) => fs.mkdirSync(at));
  }

  /** Makes a folder and those above it, as far as they are not there. @param {string} path */
  makeFolders(path) {
    for (const folder of [...parents(path).reverse(), path]) {
      if (!this.isThere(folder)) this.mkdir(folder);
    }
  }

  /** @param {string} path @param {number} mode */
  chmodFolder(path, mode) {
    const folder = this.#openFolder(path);
    try {
      fs.fchmodSync(folder, mode);
    } finally {
      fs.closeSync(folder);
    }
  }

  /** @param {string} path */
  rmdir(path) {
    this.#forget(path);
    this.use(path, (at) => fs.rmdirSync(at));
  }

  /** Removes whatever is there, with all below it. A link goes, not what it leads to. @param {string} path */
  remove(path) {
    this.#forget(path);
    try {
      this.use(path, (at) => this.#removeEntry(at));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  /** @param {string} at */
  #removeEntry(at) {
    if (!fs.lstatSync(at).isDirectory()) {
      fs.unlinkSync(at);
      return;
    }
    const folder = fs.openSync(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      const named = this.#hasDescriptors ? `/proc/self/fd/${folder}` : at;
      for (const name of fs.readdirSync(named)) this.#removeEntry(`${named}/${name}`);
    } finally {
      fs.closeSync(folder);
    }
    fs.rmdirSync(at);
  }

  /** @param {string} path @returns {number} a descriptor of the folder */
  #openFolder(path) {
    let at = this.root;
    let descriptor = -1;
    let above = '';
    for (const name of path.split('/')) {
      above = above === '' ? name : `${above}/${name}`;
      try {
        const next = fs.openSync(`${at}/${name}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (descriptor !== -1) fs.closeSync(descriptor);
        descriptor = next;
      } catch (error) {
        if (descriptor !== -1) fs.closeSync(descriptor);
        throw withPath(error, at, dirname(join(this.root, above)));
      }
      at = this.#nameOf(descriptor, above);
    }
    return descriptor;
  }

  /** @param {number} descriptor @param {string} folder */
  #nameOf(descriptor, folder) {
    return this.#hasDescriptors ? `/proc/self/fd/${descriptor}` : join(this.root, folder);
  }

  /** Closes folders that are about to go. @param {string} path */
  #forget(path) {
    for (const [folder, descriptor] of this.#open) {
      if (folder !== path && !folder.startsWith(`${path}/`)) continue;
      fs.closeSync(descriptor);
      this.#open.delete(folder);
    }
  }
}

/**
 * @template T
 * @param {string} root @param {(project: Project) => T} work
 * @returns {T}
 */
function inProject(root, work) {
  const project = new Project(root);
  try {
    return work(project);
  } finally {
    project.close();
  }
}

/** Names the file that an error is about as people know it. @param {unknown} error @param {string} from @param {string} to */
function withPath(error, from, to) {
  if (!(error instanceof Error) || from === to) return error;
  const known = /** @type {{ message: string, path?: string, dest?: string }} */ (error);
  const shown = (/** @type {string} */ text) => text.split(`${from}/`).join(`${to}/`);
  known.message = shown(known.message);
  if (known.path !== undefined) known.path = shown(known.path);
  if (known.dest !== undefined) known.dest = shown(known.dest);
  return error;
}

/** @param {unknown} path @returns {path is string} */
function isInside(path) {
  if (typeof path !== 'string' || path.includes('\0') || path.startsWith('/')) return false;
  return !path.split('/').some((part) => part === '' || part === '.' || part === '..');
}

/** The secret lies beside the state of other programs, in the home of the user who runs claw. */
function secretPath() {
  try {
    return join(homedir(), '.local/state/patchclaw/seal.key');
  } catch {
    return null; // A user without a home, as in some containers.
  }
}

/** @returns {Buffer | null} */
function readSecret() {
  const path = secretPath();
  if (path === null) return null;
  let file;
  try {
    file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const secret = fs.fstatSync(file).isFile() ? fs.readFileSync(file) : Buffer.alloc(0);
    return secret.length >= 32 ? secret : null;
  } catch {
    return null; // Not made yet, or no home that we may read.
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

/** Makes the secret; of two commands that do so at once the first one wins. @returns {Buffer | null} */
function makeSecret() {
  const path = secretPath();
  if (path === null) return null;
  const draft = `${path}.${process.pid}`;
  try {
    const made = fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    fs.rmSync(draft, { force: true });
    const file = fs.openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      fs.writeFileSync(file, randomBytes(32));
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    giveToOwnerOfHome([draft, ...(made === undefined ? [] : foldersFrom(made, dirname(path)))]);
    fs.linkSync(draft, path);
  } catch {
    // Another command was faster, or this home cannot be written.
  }
  try {
    fs.rmSync(draft, { force: true });
  } catch {
    // Only litter.
  }
  return readSecret();
}

/** Lists the folders from one down to another one below it. @param {string} first @param {string} last */
function foldersFrom(first, last) {
  const found = [last];
  for (let at = last; at !== first && at.length > first.length; at = dirname(at))
    found.push(dirname(at));
  return found;
}

/** With `sudo` a home may be another user's, who could not read a secret of root's. @param {readonly string[]} paths */
function giveToOwnerOfHome(paths) {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fs.statSync(homedir());
  if (uid === 0) return;
  for (const path of paths) fs.lchownSync(path, uid, gid);
}

/** @param {string} json @returns {Journal | null} null for anything that is not a journal, or has a path that leads out */
function parseJournal(json) {
  let value;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  const isText = (/** @type {unknown} */ one) => typeof one === 'string';
  const isTextOrNone = (/** @type {unknown} */ one) => one === null || isText(one);
  const isRecord = (/** @type {unknown} */ one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one);
  const isListOf = (/** @type {unknown} */ list, /** @type {(one: any) => boolean} */ isRight) =>
    Array.isArray(list) && list.length <= MAX_STEPS && list.every(isRight);
  const isPrint = (/** @type {any} */ one) =>
    one === null || (isRecord(one) && isText(one.digest) && typeof one.isExecutable === 'boolean');
  const isStep = (/** @type {any} */ step) => {
    if (!isRecord(step) || !isText(step.path) || !isSafePath(step.path)) return false;
    if (step.kind === 'file') return isPrint(step.before) && isPrint(step.after);
    const { prepared } = step;
    return (
      step.kind === 'swap' &&
      typeof step.hadFolder === 'boolean' &&
      (prepared === null || (isInside(prepared) && prepared.startsWith('.claw/')))
    );
  };
  const isRight =
    isRecord(value) &&
    value.version === 1 &&
    isText(value.id) &&
    /^\d{6,}-[a-z-]*$/.test(value.id) &&
    [value.verb, value.summary, value.committedAt].every(isText) &&
    isTextOrNone(value.stateBefore) &&
    isTextOrNone(value.stateAfter) &&
    isListOf(value.steps, isStep) &&
    isListOf(value.foldersMade, isInside) &&
    isRecord(value.folderModes) &&
    isListOf(Object.keys(value.folderModes), isInside) &&
    isListOf(Object.values(value.folderModes), Number.isSafeInteger) &&
    (value.moves === undefined || isRecord(value.moves)) &&
    (value.replaces === undefined ||
      isListOf(value.replaces, (id) => isText(id) && /^\d{6,}-[a-z-]*$/.test(id)));
  return isRight ? value : null;
}

/** Returns the places of a transaction, relative to the root. @param {string} id */
function placesOf(id) {
  const tx = `${TX}/${id}`;
  const backup = `${BACKUP}/${id}`;
  const at = (/** @type {string} */ folder) => (/** @type {number} */ n) => `${folder}/${n}`;
  return {
    tx,
    backup,
    staged: at(`${tx}/new`),
    old: at(`${tx}/old`),
    before: at(`${backup}/before`),
    after: at(`${backup}/after`),
    swapped: at(`${backup}/swap`),
  };
}

/** @param {Recovery['outcome']} outcome @param {Partial<Recovery>} [facts] @returns {Recovery} */
function recovery(outcome, facts = {}) {
  return { outcome, kept: [], id: null, verb: null, reason: null, holder: null, ...facts };
}

/** @param {readonly string[]} differs */
function refused(differs) {
  return /** @type {const} */ ({ outcome: 'refused', differs });
}

/** @param {JournalStep} step */
function isWrite(step) {
  return step.kind === 'swap' ? step.prepared !== null : step.after !== null;
}

/** @param {Fingerprint} one @param {Fingerprint} other */
function isSame(one, other) {
  return one?.digest === other?.digest && one?.isExecutable === other?.isExecutable;
}

/** Tells whether an error says that a path, or a folder on the way to it, is not there. @param {unknown} error */
function isMissing(error) {
  return ['ENOENT', 'ENOTDIR'].includes(String(codeOf(error)));
}

/** @param {Buffer | string} bytes @returns {`sha256:${string}`} */
function digest(bytes) {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? error.code : null;
}
