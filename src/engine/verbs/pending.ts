import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { z } from 'zod';
import type { Conflict } from '../conflict.ts';
import type { Digest } from '../digest.ts';
import { renderConflicts } from '../merge/markers.ts';

const FOLDER = '.claw/pending';
// Beside the texts of the project's own files, so under a name that none of them is likely to have.
const NAME = '.claw-operation.yaml';
const OPERATION = `${FOLDER}/${NAME}`;

const Schema = z.object({
  verb: z.string(),
  arguments: z.array(z.string()),
  state: z.string().nullable(),
  conflicts: z.array(
    z.object({
      path: z.string(),
      kind: z.string(),
      layers: z.array(z.string()),
      reason: z.string(),
    }),
  ),
});

/** An operation that waits for decisions; bound to the digest of `state.yaml` that it was planned on. */
export type Pending = Readonly<z.output<typeof Schema>>;

/** The operation that waits, or null. An unreadable one counts as none: it can be planned again. */
export function readPending(root: string): Pending | null {
  const path = join(root, OPERATION);
  if (!existsSync(path)) return null;
  const document = parseDocument(readFileSync(path, 'utf8'));
  if (document.errors.length > 0) return null;
  const parsed = Schema.safeParse(document.toJS());
  return parsed.success ? parsed.data : null;
}

/**
 * Lays a blocked operation out under `.claw/pending/`: what it was, and for each text conflict the
 * three sides and the text with markers. Replaces what waited there.
 */
export function writePending(
  root: string,
  operation: { verb: string; arguments: readonly string[]; state: Digest | null },
  conflicts: readonly Conflict[],
): void {
  const folder = join(root, FOLDER);
  const draft = `${folder}.new-${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  for (const conflict of conflicts) layOut(draft, conflict);
  const described = conflicts.map(({ path, kind, layers, reason }) => ({
    path,
    kind,
    layers: [...layers],
    reason,
  }));
  writeFileSync(join(draft, NAME), stringify({ ...operation, conflicts: described }));
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
}

/** Forgets the operation that waits. @returns whether there was one */
export function clearPending(root: string): boolean {
  const folder = join(root, FOLDER);
  const wasThere = existsSync(folder);
  rmSync(folder, { recursive: true, force: true });
  return wasThere;
}

function layOut(folder: string, conflict: Conflict): void {
  const { path, sides, hunks, layers } = conflict;
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  for (const side of ['base', 'ours', 'theirs'] as const) {
    const file = sides[side];
    if (file) writeFileSync(`${target}.${side}`, file.bytes);
  }
  if (hunks.length === 0) return;
  const labels = { base: 'base', ours: layers[0], theirs: layers[1] };
  writeFileSync(target, Buffer.from(renderConflicts(hunks, labels).text, 'latin1'));
}
