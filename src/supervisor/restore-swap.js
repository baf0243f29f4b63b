/**
 * Puts a restored backup in the place of what was there, so that a kill at any point leaves before or after. The code of
 * the assistant itself may be half replaced when this runs again, so it imports Node's built-ins only.
 *
 *     <project>/.restore/journal.json   what changes places, with a checksum; while it is there, the way is forward
 *
 * All files are staged, proved and on disk before the journal is written by one rename. Each step is one or two renames
 * within a disk, and reads from disk how far it came, so it can be repeated at any point. Removing the journal is the end.
 *
 * @typedef {{ readonly from: string | null, readonly to: string, readonly aside: string }} SwapStep
 *   the staged file or folder, null to take something away; its place; and where what is there goes. All absolute
 * @typedef {{ readonly dataDir: string, readonly steps: readonly SwapStep[], readonly leftovers: readonly string[] }} Swap
 *   `leftovers` are folders that are deleted at the end
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const FOLDER = '.restore';
const LOCK_MS = 3_000;

/** Returns the folder in a project that holds a restore which is not finished. @param {string} projectDir */
export function swapFolder(projectDir) {
  return join(projectDir, FOLDER);
}

/**
 * Writes the journal, and publishes all steps. The caller holds the lock of the data folder.
 *
 * @param {string} projectDir @param {Swap} swap
 */
export function publishSwap(projectDir, swap) {
  const folder = swapFolder(projectDir);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const staged of new Set(swap.steps.flatMap(({ from }) => (from === null ? [] : [from])))) {
    syncTree(staged);
  }
  const json = JSON.stringify(swap);
  const draft = join(folder, 'journal.draft');
  fs.writeFileSync(draft, `${json}\n${digest(json)}\n`, { mode: 0o600, flush: true });
  fs.renameSync(draft, journalPath(projectDir));
  syncPath(folder);
  finishSwap(projectDir);
}

/**
 * Publishes what a journal says is not published yet. The caller holds the lock of the data folder.
 *
 * @param {string} projectDir
 * @returns {boolean} whether there was one
 */
export function finishSwap(projectDir) {
  const swap = readSwap(projectDir);
  if (swap === null) return false;
  const folders = new Set([swapFolder(projectDir)]);
  for (const step of swap.steps) {
    publishStep(step);
    folders.add(dirname(step.to));
  }
  for (const folder of folders) if (fs.existsSync(folder)) syncPath(folder);
  // Without its journal it is done; what is left over is swept by the next restore if a kill comes here.
  fs.rmSync(journalPath(projectDir), { force: true });
  syncPath(swapFolder(projectDir));
  for (const folder of swap.leftovers) fs.rmSync(folder, { recursive: true, force: true });
  fs.rmSync(swapFolder(projectDir), { recursive: true, force: true });
  return true;
}

/** @param {SwapStep} step */
function publishStep({ from, to, aside }) {
  if (from !== null && !isThere(from)) return;
  // Something that is aside went there in an earlier run; what is in its place now came after it, or is staged.
  if (isThere(to) && !isThere(aside)) {
    fs.mkdirSync(dirname(aside), { recursive: true, mode: 0o700 });
    fs.renameSync(to, aside);
  }
  if (from === null) return;
  fs.mkdirSync(dirname(to), { recursive: true });
  // Somebody has made it again between a kill and this run.
  if (isThere(to)) fs.renameSync(to, `${aside}.later`);
  fs.renameSync(from, to);
}

/**
 * Finishes a restore that was killed, before anything of the installation is loaded. It takes the lock of the data folder
 * first: a restore that is still running is left alone.
 *
 * @param {string} projectDir
 * @returns {Promise<'nothing' | 'finished' | 'running'>}
 */
export async function finishInterruptedRestore(projectDir) {
  if (!fs.existsSync(journalPath(projectDir))) return 'nothing';
  const swap = readSwap(projectDir);
  if (swap === null) return 'nothing';
  const { DatabaseSync } = await import('node:sqlite');
  const until = Date.now() + LOCK_MS;
  for (;;) {
    const database = new DatabaseSync(join(swap.dataDir, 'instance.db'));
    try {
      database.exec('BEGIN EXCLUSIVE');
      return finishSwap(projectDir) ? 'finished' : 'nothing';
    } catch (error) {
      if (!String(error).includes('locked')) throw error;
      if (Date.now() > until) return 'running';
    } finally {
      database.close();
    }
    await sleep(50);
  }
}

/** @param {string} projectDir @returns {Swap | null} null where there is none, or one that was never complete */
function readSwap(projectDir) {
  let text;
  try {
    text = fs.readFileSync(journalPath(projectDir), 'utf8');
  } catch {
    return null; // There is none.
  }
  const [json = '', checksum] = text.split('\n');
  return digest(json) === checksum ? JSON.parse(json) : null;
}

/** @param {string} projectDir */
function journalPath(projectDir) {
  return join(swapFolder(projectDir), 'journal.json');
}

/** @param {string} path */
function isThere(path) {
  return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** @param {string} path */
function syncTree(path) {
  if (fs.lstatSync(path).isDirectory()) {
    for (const name of fs.readdirSync(path)) syncTree(join(path, name));
  }
  syncPath(path);
}

/** @param {string} path */
function syncPath(path) {
  const file = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** @param {string} text */
function digest(text) {
  return createHash('sha256').update(text).digest('hex');
}
