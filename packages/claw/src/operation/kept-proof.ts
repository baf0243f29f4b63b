import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Digest, digestBytes, digestFile } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { treeReader } from '../installed/disk.ts';
import { PENDING } from '../pending/pending.ts';
import { installedDigest } from '../proof/npm/installed-packages.ts';
import type { ProofScope } from '../proof/proof.ts';
import type { Operation } from './planned-operation.ts';

const NAME = '.claw-proved.json';

const Kept = z.object({
  key: z.string(),
  warnings: z.array(z.string()),
  checks: z.int(),
  tests: z.int(),
  reused: z.int(),
  own: z.int(),
  note: z.string().nullable(),
});

/** The checks and tests that passed on a planned tree, and notes about them. */
export type ProofOutcome = {
  readonly checks: number;
  /** Files of tests, of all layers. */
  readonly tests: number;
  /** Those of them that were not run again, because they had passed on the same files. */
  readonly reused: number;
  /** Files of the codebase's own tests. */
  readonly own: number;
  /** A note on tests that did not run; null where all did. */
  readonly note: string | null;
  readonly warnings: readonly string[];
};

/** Tells whether a proof may be kept: only with a waiting operation, for the command that carries it out. */
export function mayKeepProof(root: string): boolean {
  return existsSync(join(root, PENDING));
}

/**
 * Computes the key of a proof from everything that it can depend on: each file of the planned tree, the
 * layers with their tests, planned and present, the installed `node_modules`, and the tests to run.
 *
 * @param paths every file of the present tree
 * @returns null where one of them cannot be read by its path alone, as below a linked folder, or where a
 *   package is a link to somewhere else
 */
export function proofKey(
  operation: Operation,
  paths: readonly string[],
  scope: ProofScope,
): Digest | null {
  try {
    return keyOf(operation, paths, scope);
  } catch (error) {
    if (error instanceof ClawError) return null;
    throw error;
  }
}

function keyOf(operation: Operation, paths: readonly string[], scope: ProofScope): Digest | null {
  const { plan, installed, installation } = operation;
  const packages = installedDigest(installation.root, join(installation.root, 'node_modules'));
  if (packages === null) return null;
  const readDisk = treeReader(installation.root);
  const changed = new Map(plan.changes.map(({ path, after }) => [path, after]));
  const files = [...new Set([...paths, ...changed.keys()])].sort().map((path) => {
    const file = changed.has(path) ? changed.get(path) : readDisk(path);
    return [path, file ? digestFile(file) : null];
  });
  const layers = [plan.layers, installed].map((list) => list.map(({ digest }) => digest));
  return digestBytes(JSON.stringify([files, layers, packages, scope]));
}

/** Reads an earlier proof of this very tree; null if there is none. */
export function readProof(root: string, key: Digest): ProofOutcome | null {
  try {
    const kept = Kept.parse(JSON.parse(readFileSync(join(root, PENDING, NAME), 'utf8')));
    return kept.key === key ? kept : null;
  } catch {
    return null; // Absent or damaged: it is proved again.
  }
}

/** Keeps a proof for as long as the operation waits. */
export function keepProof(root: string, key: Digest, proved: ProofOutcome): void {
  writeFileSync(join(root, PENDING, NAME), JSON.stringify({ key, ...proved }));
}
