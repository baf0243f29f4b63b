import * as fs from 'node:fs';
import { join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import type { Digest } from '../digest.ts';
import { digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import type { Fingerprint, Journal } from './journal.ts';
import { dropBackup, examineJournal, readJournal, replacedIds, transactionIds } from './recover.js';

/** A finished transaction in one line. */
export type TransactionSummary = {
  readonly id: string;
  readonly verb: string;
  readonly summary: string;
  /** ISO 8601. */
  readonly committedAt: string;
  readonly stateBefore: Digest | null;
  readonly stateAfter: Digest | null;
};

/** A finished transaction with every byte it replaced and wrote, for planning an undo. */
export type Transaction = TransactionSummary & {
  readonly files: readonly {
    readonly path: string;
    readonly before: TreeFile | null;
    readonly after: TreeFile | null;
  }[];
  /** New path → the path that its content came from. */
  readonly moves: ReadonlyMap<string, string>;
  readonly swaps: readonly {
    readonly path: string;
    /** True if there was a folder before. */
    readonly hadFolder: boolean;
    /** The place of that folder, relative to the root; null if there was none or it is gone. */
    readonly kept: string | null;
  }[];
};

/** Returns the finished transactions that can still be undone, newest first. */
export function listTransactions(root: string): readonly TransactionSummary[] {
  const replaced = replacedIds(root);
  const ids = transactionIds(root, '.claw/backup').filter((id) => !replaced.has(id));
  return ids.reverse().flatMap((id) => {
    const journal = readRecord(root, id);
    return journal === null ? [] : [summaryOf(journal)];
  });
}

/**
 * Tells whether there are records that do not count here: they were written by an older claw, before records had
 * seals, or come from another folder or user.
 */
export function hasForeignRecords(root: string): boolean {
  return transactionIds(root, '.claw/backup').some((id) => {
    const { journal, isOwn } = examineJournal(root, `.claw/backup/${id}/record.json`);
    return journal !== null && !isOwn;
  });
}

/** A finished transaction with the files that it changed, those of `.claw/` among them. */
export type TransactionRecord = TransactionSummary & {
  readonly files: readonly {
    readonly path: string;
    readonly kind: 'add' | 'modify' | 'delete' | 'rename';
  }[];
};

/** Returns the finished transactions that can still be undone with their files, newest first. */
export function listRecords(root: string): readonly TransactionRecord[] {
  return listTransactions(root).flatMap(({ id }) => {
    const journal = readRecord(root, id);
    if (journal === null) return [];
    const moves = journal.moves ?? {};
    const files = journal.steps.flatMap((step) => {
      if (step.kind !== 'file') return [];
      const { path, before, after } = step;
      const isNew = before === null;
      const kind = isNew
        ? path in moves
          ? 'rename'
          : 'add'
        : after === null
          ? 'delete'
          : 'modify';
      return [{ path, kind } as const];
    });
    return [{ ...summaryOf(journal), files }];
  });
}

/**
 * @throws ClawError NOTHING_TO_UNDO if there is no such transaction; DIGEST_MISMATCH if bytes that
 *   it kept are not what they were
 */
export function readTransaction(root: string, id: string): Transaction {
  const journal = readRecord(root, id);
  if (journal === null) {
    throw new ClawError('NOTHING_TO_UNDO', `There is no record of ${id} any more.`);
  }
  const files: Transaction['files'][number][] = [];
  const swaps: Transaction['swaps'][number][] = [];
  for (const [n, step] of journal.steps.entries()) {
    const { path } = step;
    if (step.kind === 'file') {
      const read = (side: 'before' | 'after') =>
        readKept(root, `.claw/backup/${id}/${side}/${n}`, step[side]);
      files.push({ path, before: read('before'), after: read('after') });
    } else {
      const kept = `.claw/backup/${id}/swap/${n}`;
      const isKept = fs.lstatSync(join(root, kept), { throwIfNoEntry: false }) !== undefined;
      swaps.push({ path, hadFolder: step.hadFolder, kept: isKept ? kept : null });
    }
  }
  const moves = new Map(Object.entries(journal.moves ?? {}));
  return { ...summaryOf(journal), files, moves, swaps };
}

/** Forgets a transaction, and what it was joined of: after its undo is committed. */
export function dropTransaction(root: string, id: string): void {
  dropBackup(root, id);
}

function readRecord(root: string, id: string): Journal | null {
  return readJournal(root, `.claw/backup/${id}/record.json`);
}

function summaryOf(journal: Journal): TransactionSummary {
  const { id, verb, summary, committedAt, stateBefore, stateAfter } = journal;
  return { id, verb, summary, committedAt, stateBefore, stateAfter };
}

function readKept(root: string, path: string, print: Fingerprint): TreeFile | null {
  if (print === null) return null;
  const bytes = fs.readFileSync(join(root, path));
  if (digestBytes(bytes) !== print.digest) {
    const message = `${path} is not what it was when it was kept, so it cannot be put back.`;
    throw new ClawError('DIGEST_MISMATCH', message, { path });
  }
  return { bytes, isExecutable: print.isExecutable };
}
