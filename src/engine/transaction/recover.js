/**
 * Publishes, finishes and takes back transactions. This one file must work when nothing else of the
 * project does (a half-swapped `node_modules`, an engine that is being updated), so it imports
 * Node's built-ins only and runs on any Node >= 18.
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
 * @typedef {import('./journal.ts').Journal} Journal
 * @typedef {import('./journal.ts').JournalStep} JournalStep
 * @typedef {import('./journal.ts').Holder} Holder
 * @typedef {import('./journal.ts').Recovery} Recovery
 * @typedef {import('./journal.ts').Decision} Decision
 * @typedef {import('./step.ts').Fingerprint} Fingerprint
 * @typedef {Extract<JournalStep, { kind: 'file' }>} FileStep
 * @typedef {Extract<JournalStep, { kind: 'swap' }>} SwapStep
 * @typedef {Set<string>} OwnFolders folders of `.claw/` that are there; in the rest of the project another
 *   program may put a link in a folder's place at any time
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const KEPT_BACKUPS = 10;
const ID = /^\d{6}-/;
const NOT_A_FILE = /** @type {const} */ ({ digest: 'sha256:none', isExecutable: false });

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
  return transactionIds(join(root, '.claw/tx')).length > 0;
}

/**
 * Finishes what a killed command left: forward, or back where it was already going back.
 *
 * A target that is neither old nor new holds an owner's edit. It stays as it is, the others are
 * published, and the outcome is `needs-decision` until a decision is given. With a `state.yaml` of
 * another branch nothing is touched.
 *
 * @param {string} root
 * @param {Decision | null} [decision]
 * @param {{ isLocked?: boolean, timeoutMs?: number }} [options] `isLocked`: the caller has the lock
 * @returns {Recovery}
 */
export function recover(root, decision = null, options = {}) {
  if (!hasPending(root)) return recovery('nothing');
  const work = () => {
    let last = recovery('nothing');
    for (const id of transactionIds(join(root, '.claw/tx'))) {
      const found = recoverOne(root, id, decision);
      if (found.outcome === 'needs-decision') return found;
      if (found.outcome !== 'nothing') last = found;
    }
    return last;
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
  const work = () => {
    const recordOf = (/** @type {string} */ name) =>
      join(root, '.claw/backup', name, 'record.json');
    const finished = transactionIds(join(root, '.claw/backup')).filter((name) =>
      isThere(recordOf(name)),
    );
    const journal = readJournal(recordOf(id));
    if (journal === null || finished.at(-1) !== id) return refused(['.claw/backup']);
    if (hasPending(root)) return refused(['.claw/tx']);
    const differs = journal.steps.filter((step, n) => !isUndoable(root, journal, step, n));
    if (differs.length > 0) return refused(differs.map((step) => step.path));
    dropReplaced(join(root, '.claw/backup'), journal);
    const places = placesOf(root, id);
    fs.mkdirSync(places.tx, { recursive: true });
    fs.renameSync(join(places.backup, 'record.json'), join(places.tx, 'rollback.json'));
    syncPath(places.tx);
    takeBack(root, journal, false);
    return /** @type {const} */ ({ outcome: 'rolled-back', differs: [] });
  };
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
  const needed = new Set(
    journal.steps.flatMap((step) => (isWrite(step) ? parents(step.path) : [])),
  );
  const way = { isForced: false, folders: new Set() };
  let isComplete = true;
  for (const [n, step] of journal.steps.entries()) {
    if (step.kind === 'swap') publishSwap(root, journal.id, step, n);
    else if (!publishFile(root, journal.id, step, n, way) && !onEdited(step, n)) {
      isComplete = false;
    }
    if (!isWrite(step)) removeEmpty(root, parents(step.path), needed);
  }
  syncFolders(root, journal);
  return isComplete;
}

/**
 * Ends a published transaction by one rename; what comes after it is only tidying.
 *
 * @param {string} root @param {string} id
 */
export function finish(root, id) {
  const { tx, backup } = placesOf(root, id);
  saveConflicts(root, id);
  fs.renameSync(join(tx, 'journal.json'), join(backup, 'record.json'));
  try {
    syncPath(backup);
    remove(tx);
    pruneBackups(join(root, '.claw/backup'));
  } catch {
    // The tree is done. What could not be removed now is swept by the next command.
  }
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
  const kept = [];
  for (const [n, step] of [...journal.steps.entries()].reverse()) {
    if (step.kind === 'swap') takeBackSwap(root, journal.id, step, n);
    else if (!takeBackFile(root, journal, step, n, isForced)) kept.push(step.path);
    const made = parents(step.path).filter((folder) => journal.foldersMade.includes(folder));
    removeEmpty(root, made, new Set());
  }
  syncFolders(root, journal);
  discard(root, journal.id);
  return kept;
}

/**
 * Marks a transaction as going back; needs no space on the disk.
 *
 * @param {string} root @param {string} id
 */
export function turnBack(root, id) {
  const { tx } = placesOf(root, id);
  fs.renameSync(join(tx, 'journal.json'), join(tx, 'rollback.json'));
  try {
    syncPath(tx);
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
  const { tx, backup } = placesOf(root, id);
  remove(join(tx, 'rollback.json'));
  if (!isThere(join(backup, 'record.json'))) {
    for (const part of ['before', 'after', 'swap']) remove(join(backup, part));
    saveConflicts(root, id);
    removeEmpty(backup, ['.'], new Set());
  }
  remove(tx);
}

/** Removes a backup that is no transaction's any more, record first. @param {string} folder */
export function removeBackup(folder) {
  remove(join(folder, 'record.json'));
  remove(folder);
}

/**
 * Forgets a finished transaction. What it was joined of goes first: without it, that would count again.
 *
 * @param {string} folder `.claw/backup`
 * @param {string} id
 */
export function dropBackup(folder, id) {
  dropReplaced(folder, readJournal(join(folder, id, 'record.json')));
  removeBackup(join(folder, id));
}

/**
 * Lists the transactions in `.claw/backup` that a later record replaces.
 *
 * @param {string} folder
 * @returns {ReadonlySet<string>}
 */
export function replacedIds(folder) {
  const records = transactionIds(folder).map((id) => readJournal(join(folder, id, 'record.json')));
  return new Set(records.flatMap((journal) => journal?.replaces ?? []));
}

/** @param {string} folder @param {Journal | null} journal */
function dropReplaced(folder, journal) {
  for (const id of journal?.replaces ?? []) dropBackup(folder, id);
}

/**
 * Reads a journal or a record.
 *
 * @param {string} path
 * @returns {Journal | null} null if it is missing, torn or altered
 */
export function readJournal(path) {
  if (!fs.existsSync(path)) return null;
  const [json = '', checksum] = fs.readFileSync(path, 'utf8').split('\n');
  // A JSON that carries its own checksum is what we wrote: its shape needs no second check.
  return digest(json) === checksum ? JSON.parse(json) : null;
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
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
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
 * @param {string} root
 * @param {string} path
 * @param {OwnFolders} [folders] what is not looked at again; folders that are seen are added
 * @returns {string | null} the first folder on the way to `path` that is a symbolic link
 */
export function linkOnPath(root, path, folders = new Set()) {
  for (const folder of parents(path).reverse()) {
    if (folders.has(folder)) continue;
    const found = fs.lstatSync(join(root, folder), { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return folder;
    if (!found?.isDirectory()) return null;
    if (isOwn(folder)) folders.add(folder);
  }
  return null;
}

/** Lists the ids of transactions in a folder, oldest first. @param {string} folder */
export function transactionIds(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
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
  const cache = join(root, '.claw/cache');
  const holder = { pid: process.pid, verb, started: processStart(process.pid) };
  try {
    fs.mkdirSync(cache, { recursive: true });
    fs.writeFileSync(join(cache, 'holder.json'), JSON.stringify(holder));
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
  let holder;
  try {
    holder = JSON.parse(fs.readFileSync(join(root, '.claw/cache/holder.json'), 'utf8'));
    process.kill(holder.pid, 0);
  } catch (error) {
    // Absent, half written, or its process is gone: the lock is free. EPERM means another user's process.
    if (codeOf(error) !== 'EPERM') return null;
  }
  return processStart(holder.pid) === holder.started ? holder : null;
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

/** @param {string} root @param {string} id @param {Decision | null} decision @returns {Recovery} */
function recoverOne(root, id, decision) {
  const { tx, backup } = placesOf(root, id);
  const name = ['rollback.json', 'journal.json'].find((file) => isThere(join(tx, file)));
  if (name === undefined) {
    discard(root, id);
    return recovery('nothing');
  }
  const journal = readJournal(join(tx, name));
  const reason =
    journal === null ? 'journal-damaged' : isForeign(root, journal) ? 'state-changed' : null;
  const facts = { id, verb: journal?.verb ?? null };
  if (reason !== null && decision === 'keep-mine') {
    fs.mkdirSync(backup, { recursive: true });
    fs.renameSync(tx, join(backup, 'conflicts'));
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
  const isPublished = publish(root, journal, (step, n) => {
    kept.push(step.path);
    keepVersions(root, id, step.path, n);
    if (decision === 'roll-forward') {
      return publishFile(root, id, step, n, { isForced: true, folders: new Set() });
    }
    if (decision === 'keep-mine') fillBackup(root, id, step, n);
    return decision === 'keep-mine';
  });
  if (isPublished) {
    finish(root, id);
    return recovery('rolled-forward', { ...facts, kept });
  }
  return recovery('needs-decision', { ...facts, kept, reason: 'edited' });
}

/** @param {string} root @param {Journal} journal */
function isForeign(root, journal) {
  const state = fingerprint(join(root, '.claw/state.yaml'))?.digest ?? null;
  return state !== journal.stateBefore && state !== journal.stateAfter;
}

/**
 * @param {string} root @param {string} id @param {FileStep} step @param {number} n
 * @param {{ isForced: boolean, folders: OwnFolders }} way `isForced` replaces the target whatever it is
 * @returns {boolean} false if the target is neither old nor new; it was not touched then
 */
function publishFile(root, id, step, n, { isForced, folders }) {
  const { staged, before } = placesOf(root, id);
  const target = join(root, step.path);
  if (linkOnPath(root, step.path, folders) !== null) return false;
  const now = step.before === null && !isThere(target) ? null : fingerprint(target);
  if (isSame(now, step.after) || isForced) fillBackup(root, id, step, n);
  else if (!isSame(now, step.before)) return false;
  else if (now !== null) {
    // The link pins the very inode that the rename will replace: what was written to it since the
    // check above is seen here, before it could be lost.
    if (!isSameInode(target, before(n))) {
      remove(before(n));
      fs.linkSync(target, before(n));
    }
    if (!isSame(fingerprint(before(n)), step.before)) return false;
  }
  if (isSame(now, step.after)) return true;
  if (step.after === null) fs.unlinkSync(target);
  else if (now !== null) fs.renameSync(staged(n), target);
  else return publishNew(root, step.path, staged(n), folders);
  return true;
}

/** @param {string} root @param {string} path @param {string} staged @param {OwnFolders} folders */
function publishNew(root, path, staged, folders) {
  makeParents(root, path, {}, folders);
  try {
    // A link never replaces what appeared at the target in the meantime; a rename would.
    fs.linkSync(staged, join(root, path));
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  fs.unlinkSync(staged);
  return true;
}

/** @param {string} root @param {string} id @param {SwapStep} step @param {number} n */
function publishSwap(root, id, step, n) {
  const { swapped } = placesOf(root, id);
  const target = join(root, step.path);
  const prepared = step.prepared === null ? null : join(root, step.prepared);
  if (prepared !== null && !isThere(prepared)) return;
  if (isThere(target)) {
    // A second folder appeared here (from `npm install`, say) before this transaction was finished.
    const aside = isThere(swapped(n)) ? `${swapped(n)}.stray` : swapped(n);
    remove(`${swapped(n)}.stray`);
    fs.renameSync(target, aside);
  }
  if (prepared === null) return;
  makeParents(root, step.path, {});
  fs.renameSync(prepared, target);
}

/**
 * @param {string} root @param {Journal} journal @param {FileStep} step @param {number} n
 * @param {boolean} isForced
 * @returns {boolean} false if an owner's edit was met
 */
function takeBackFile(root, journal, step, n, isForced) {
  const { staged, before } = placesOf(root, journal.id);
  const target = join(root, step.path);
  const now = fingerprint(target);
  if (isSame(now, step.before)) return true;
  const isPublished =
    step.after === null
      ? isThere(before(n))
      : !isThere(staged(n)) || isSameInode(staged(n), target);
  if (!isPublished || linkOnPath(root, step.path) !== null) return false;
  const isEdited = !isSame(now, step.after);
  if (isEdited) {
    keepVersions(root, journal.id, step.path, n);
    if (!isForced) return false;
  }
  // A rename, not a link: a full disk must not stop the way back.
  makeParents(root, step.path, journal.folderModes);
  if (step.before === null) remove(target);
  else fs.renameSync(before(n), target);
  return !isEdited;
}

/** @param {string} root @param {string} id @param {SwapStep} step @param {number} n */
function takeBackSwap(root, id, step, n) {
  const { tx, swapped } = placesOf(root, id);
  const target = join(root, step.path);
  const isWaiting = step.prepared !== null && isThere(join(root, step.prepared));
  if (step.hadFolder ? !isThere(swapped(n)) : step.prepared === null || isWaiting) return;
  if (isThere(target)) {
    // Back to where it was prepared, for another attempt; that place may be gone by now.
    const home = step.prepared === null || isWaiting ? null : join(root, step.prepared);
    const aside = home !== null && isThere(dirname(home)) ? home : join(tx, `taken-back-${n}`);
    fs.renameSync(target, aside);
  }
  if (step.hadFolder) fs.renameSync(swapped(n), target);
}

/** @param {string} root @param {Journal} journal @param {JournalStep} step @param {number} n */
function isUndoable(root, journal, step, n) {
  const { before, swapped } = placesOf(root, journal.id);
  const target = join(root, step.path);
  if (step.kind === 'swap') {
    return isThere(target) === (step.prepared !== null) && (!step.hadFolder || isThere(swapped(n)));
  }
  return isSame(fingerprint(target), step.after) && (step.before === null || isThere(before(n)));
}

/** @param {string} folder */
function pruneBackups(folder) {
  for (const id of replacedIds(folder)) removeBackup(join(folder, id));
  const newestFirst = transactionIds(folder).reverse();
  for (const [age, id] of newestFirst.entries()) {
    const holds = (/** @type {string} */ name) => isThere(join(folder, id, name));
    if (age >= KEPT_BACKUPS || !(holds('record.json') || holds('conflicts'))) {
      removeBackup(join(folder, id));
    } else if (age > 0) pruneSwaps(join(folder, id));
  }
}

/**
 * Deletes swapped-out packages, which are large and can be installed again. Keeps a former core, which may be
 * nowhere else.
 *
 * @param {string} backup
 */
function pruneSwaps(backup) {
  const swaps = join(backup, 'swap');
  const kept = isThere(swaps) ? fs.readdirSync(swaps) : [];
  if (kept.length === 0) return;
  const steps = readJournal(join(backup, 'record.json'))?.steps ?? [];
  for (const name of kept) {
    if (steps[Number(name)]?.path !== '.claw/base') remove(join(swaps, name));
  }
}

/**
 * Lays the old, the new and the owner's text of an edited target side by side.
 *
 * @param {string} root @param {string} id @param {string} path @param {number} n
 */
function keepVersions(root, id, path, n) {
  const { tx, staged, old, before, after } = placesOf(root, id);
  const versions = {
    old: [old(n), before(n)],
    new: [staged(n), after(n)],
    mine: [join(root, path)],
  };
  for (const [name, places] of Object.entries(versions)) {
    const from = places.find((place) => fs.lstatSync(place, { throwIfNoEntry: false })?.isFile());
    const to = join(tx, 'conflicts', `${path}.${name}`);
    fs.mkdirSync(dirname(to), { recursive: true });
    if (from !== undefined) fs.copyFileSync(from, to);
  }
}

/**
 * Fills the backup from the earlier copy, where the target was replaced or its inode written to meanwhile.
 *
 * @param {string} root @param {string} id @param {FileStep} step @param {number} n
 */
function fillBackup(root, id, step, n) {
  const { old, before } = placesOf(root, id);
  if (step.before === null || isSame(fingerprint(before(n)), step.before)) return;
  remove(before(n));
  fs.copyFileSync(old(n), before(n));
}

/** @param {string} root @param {string} id */
function saveConflicts(root, id) {
  const { tx, backup } = placesOf(root, id);
  if (!isThere(join(tx, 'conflicts'))) return;
  fs.mkdirSync(backup, { recursive: true });
  fs.renameSync(join(tx, 'conflicts'), join(backup, 'conflicts'));
}

/** @param {string} root @param {Journal} journal */
function syncFolders(root, journal) {
  for (const folder of new Set(['.', ...journal.steps.flatMap((step) => parents(step.path))])) {
    syncFolder(join(root, folder));
  }
}

/** Does nothing where there is no folder. @param {string} path */
function syncFolder(path) {
  let folder;
  try {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants;
    folder = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    fs.fsyncSync(folder);
  } catch (error) {
    const isNone = ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String(codeOf(error)));
    if (folder !== undefined || !isNone) throw error;
  } finally {
    if (folder !== undefined) fs.closeSync(folder);
  }
}

/**
 * @param {string} root @param {string} path @param {Readonly<Record<string, number>>} modes
 * @param {OwnFolders} [folders] those that are there; what is made is added
 */
function makeParents(root, path, modes, folders = new Set()) {
  let isMade = false;
  for (const folder of parents(path).reverse()) {
    if (folders.has(folder) || (!isMade && isThere(join(root, folder)))) continue;
    fs.mkdirSync(join(root, folder));
    isMade = true;
    if (isOwn(folder)) folders.add(folder);
    const mode = modes[folder];
    if (mode !== undefined) fs.chmodSync(join(root, folder), mode);
  }
}

/** @param {string} folder */
function isOwn(folder) {
  return folder === '.claw' || folder.startsWith('.claw/');
}

/** @param {string} root @param {readonly string[]} folders @param {ReadonlySet<string>} needed */
function removeEmpty(root, folders, needed) {
  for (const folder of folders) {
    const path = join(root, folder);
    const isFolder = fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (isFolder && !needed.has(folder) && fs.readdirSync(path).length === 0) fs.rmdirSync(path);
  }
}

/**
 * @template T
 * @param {string} root @param {number} timeoutMs @param {() => T} work
 * @returns {T | Recovery}
 */
function locked(root, timeoutMs, work) {
  const sqlite = builtInSqlite();
  if (sqlite === null) {
    const holder = liveHolder(root);
    if (holder !== null) return recovery('locked', { holder });
    writeHolder(root, 'recover');
    return work();
  }
  const db = new sqlite.DatabaseSync(join(root, '.claw/lock.db'));
  try {
    db.exec(`PRAGMA busy_timeout = ${timeoutMs}; BEGIN EXCLUSIVE`);
    writeHolder(root, 'recover');
    return work();
  } catch (error) {
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === 5;
    if (isBusy) return recovery('locked', { holder: liveHolder(root) });
    throw error;
  } finally {
    db.close();
  }
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

/** @param {string} root @param {string} id */
function placesOf(root, id) {
  const tx = join(root, '.claw/tx', id);
  const backup = join(root, '.claw/backup', id);
  const at = (/** @type {string} */ folder) => (/** @type {number} */ n) => join(folder, String(n));
  return {
    tx,
    backup,
    staged: at(join(tx, 'new')),
    old: at(join(tx, 'old')),
    before: at(join(backup, 'before')),
    after: at(join(backup, 'after')),
    swapped: at(join(backup, 'swap')),
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

/** @param {string} one @param {string} other */
function isSameInode(one, other) {
  const [a, b] = [one, other].map((path) => fs.lstatSync(path, { throwIfNoEntry: false }));
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/**
 * Tells whether there is an entry at a path, even a link that leads nowhere.
 *
 * @param {string} path
 */
function isThere(path) {
  return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** @param {string} path */
function remove(path) {
  fs.rmSync(path, { recursive: true, force: true });
}

/** @param {Buffer | string} bytes @returns {`sha256:${string}`} */
function digest(bytes) {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? error.code : null;
}
