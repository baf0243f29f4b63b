import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { z } from 'zod';
import type { Decision } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import { parseDecision, renderDecision } from '../installed/resolution-file.ts';

const CONFLICTS = '.claw-conflicts.json';
const DECISIONS = '.claw-decisions';

const Lines = z.array(z.string());
const File = z
  .object({ base64: z.base64(), isExecutable: z.boolean() })
  .nullable()
  .transform(
    (file): TreeFile | null =>
      file && { bytes: Buffer.from(file.base64, 'base64'), isExecutable: file.isExecutable },
  );
const Sides = z.object({ base: File, ours: File, theirs: File });
const Hunk = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('resolved'), lines: Lines }),
  z.object({ kind: z.literal('conflict'), base: Lines, ours: Lines, theirs: Lines }),
]);
const Conflicts = z.array(
  z.object({
    path: z.string(),
    kind: z.enum(['content', 'add-add', 'modify-delete', 'binary', 'structured']),
    layers: z.tuple([z.string(), z.string()]),
    authors: Lines.optional(),
    others: Lines.optional(),
    reason: z.string(),
    hunks: z.array(Hunk),
    sides: Sides,
    values: z.object({ base: z.unknown(), ours: z.unknown(), theirs: z.unknown() }).nullable(),
    candidates: z.array(z.string()).default([]),
  }),
);

/** Keeps conflicts as they were planned, so that deciding needs no planning. */
export function writeConflicts(folder: string, conflicts: readonly Conflict[]): void {
  const plain = conflicts.map(({ sides: { base, ours, theirs }, ...rest }) => ({
    ...rest,
    sides: { base: plainFile(base), ours: plainFile(ours), theirs: plainFile(theirs) },
  }));
  writeFileSync(join(folder, CONFLICTS), JSON.stringify(plain));
}

/** @throws ClawError IO_FAILED for a folder that was changed by hand */
export function readConflicts(folder: string): readonly Conflict[] {
  try {
    return Conflicts.parse(JSON.parse(readFileSync(join(folder, CONFLICTS), 'utf8'))).map(
      ({ values, ...conflict }) => ({
        ...conflict,
        values: values && { base: values.base, ours: values.ours, theirs: values.theirs },
      }),
    );
  } catch (cause) {
    throw damaged(CONFLICTS, cause);
  }
}

export function writeDecisions(folder: string, decisions: readonly Decision[]): void {
  const below = join(folder, DECISIONS);
  const draft = `${below}.new`;
  if (decisions.length === 0) {
    rmSync(below, { recursive: true, force: true });
    return;
  }
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft);
  for (const [index, { amended, ...answered }] of decisions.entries()) {
    writeFileSync(join(draft, `${index}.yaml`), renderDecision(answered));
    if (amended) writeFileSync(join(draft, `${index}.text`), amended);
  }
  // Writes all or nothing: a half-written decision would look like one that was changed by hand.
  rmSync(below, { recursive: true, force: true });
  renameSync(draft, below);
}

/** @throws ClawError RESOLUTION_INVALID for one that was changed into something else */
export function readDecisions(folder: string): readonly Decision[] {
  const below = join(folder, DECISIONS);
  if (!existsSync(below)) return [];
  const names = readdirSync(below).filter((name) => name.endsWith('.yaml'));
  return names.map((name) => {
    const answered = parseDecision(
      readFileSync(join(below, name)),
      `.claw/pending/${DECISIONS}/${name}`,
    );
    const text = join(below, name.replace(/yaml$/, 'text'));
    return { ...answered, amended: existsSync(text) ? readFileSync(text) : null };
  });
}

function plainFile(file: TreeFile | null) {
  return file && { base64: file.bytes.toString('base64'), isExecutable: file.isExecutable };
}

function damaged(name: string, cause: unknown): ClawError {
  return new ClawError(
    'IO_FAILED',
    `.claw/pending/${name} cannot be read. Run claw abort, then the command again.`,
    { path: `.claw/pending/${name}`, cause },
  );
}
