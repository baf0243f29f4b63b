import { accessSync, constants, existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { FOREIGN_ADVICE } from '../../operation/session.ts';
import { readPending } from '../../pending/pending.ts';
import { examineJournal, liveHolder, transactionIds } from '../../transaction/recover.js';
import { bad, type Check, type CheckResult, good, type Subject } from './finding.ts';

const FOLDERS = ['base', 'composed', 'packages', 'custom', 'pending', 'backup', 'tx', 'cache'];

/** Checks of the folder and of commands in progress: running, killed, or waiting for decisions. */
export const operations: readonly Check[] = [
  { area: 'folder', run: ({ root }) => checkFolder(root) },
  { area: 'lock', run: ({ root }) => checkLock(root) },
  { area: 'journal', run: ({ root }) => checkJournals(root) },
  { area: 'pending', run: checkPending },
];

function checkFolder(root: string): CheckResult {
  const folder = join(root, '.claw');
  const kind = lstatSync(folder, { throwIfNoEntry: false });
  if (!kind) return good('there is none yet');
  const odd = ['', ...FOLDERS].map((name) => join('.claw', name)).find((path) => isOdd(root, path));
  if (odd !== undefined) return bad(`${odd} is no folder.`, `Move ${odd} away.`);
  if (isWritable(folder)) return good('can be written');
  return bad('.claw cannot be written.', 'Give yourself the right to write there.');
}

function isOdd(root: string, path: string): boolean {
  return lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === false;
}

function checkLock(root: string): CheckResult {
  const lock = lstatSync(join(root, '.claw/lock.db'), { throwIfNoEntry: false });
  if (lock && !lock.isFile()) {
    return bad('.claw/lock.db is not a file, so no command can lock.', 'Move .claw/lock.db away.');
  }
  const holder = liveHolder(root);
  if (holder === null) return good('free');
  return good(`claw ${holder.verb} is running (pid ${holder.pid})`, 'Wait for it to finish.');
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false; // No right to, or a read-only disk.
  }
}

function checkJournals(root: string): CheckResult {
  const [id] = transactionIds(root, '.claw/tx');
  if (id === undefined || liveHolder(root) !== null) return good('no command was cut short');
  const place = `.claw/tx/${id}`;
  const name = ['rollback.json', 'journal.json'].find((file) =>
    existsSync(join(root, place, file)),
  );
  if (name === undefined) return good('a command was cut short before it changed anything');
  const { journal, isOwn } = examineJournal(root, `${place}/${name}`);
  if (journal === null) {
    const advice = 'claw recover --keep-mine leaves the files as they are and sets it aside.';
    return bad(`The journal of a command that was cut short cannot be read (${id}).`, advice);
  }
  if (!isOwn) return bad(`${place} was not written by claw in this folder.`, FOREIGN_ADVICE);
  const advice = 'claw recover finishes it, and says so where it needs a decision.';
  return bad(`"${journal.summary}" was cut short while it was publishing.`, advice);
}

function checkPending({ root, state }: Subject): CheckResult {
  const pending = readPending(root);
  if (pending === null) {
    if (!existsSync(join(root, '.claw/pending'))) return good('nothing waits');
    return bad('The operation that waits cannot be read.', 'claw abort forgets it; plan it again.');
  }
  const name = [pending.verb, ...pending.arguments].join(' ');
  if (pending.state !== (state?.digest ?? null)) {
    const message = `"${name}" waits, but was planned on another .claw/state.yaml.`;
    return bad(message, 'Switch back to the branch it was planned on, or forget it: claw abort.');
  }
  const paths = pending.conflicts.map(({ path }) => path).join(', ');
  return good(
    `"${name}" waits for decisions on ${paths}`,
    'claw conflicts shows them, claw resolve decides, claw continue goes on, claw abort forgets.',
  );
}
