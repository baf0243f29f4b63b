import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { ClawError, shellWords } from '../errors.ts';
import { isSealed, sealOf } from '../transaction/recover.js';

export const PENDING = '.claw/pending';
/** Beside the texts of the project's own files, so under a name that none of them is likely to have. */
export const OPERATION = '.claw-operation.yaml';
/** Beside it: shows that claw wrote it in this folder. What waits may hold the owner's consent. */
const SEAL = '.claw-operation.seal';

const Schema = z.object({
  verb: z.string(),
  arguments: z.array(z.string()),
  options: z.record(z.string(), z.string().nullable()).default({}),
  cwd: z.string().default('.'),
  allow: z.array(z.string()).default([]),
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

/**
 * Returns the operation that waits, or null. An unreadable one counts as none: it can be planned again. One that
 * was not begun in this folder counts as none, too.
 */
export function readPending(root: string): Pending | null {
  const path = join(root, PENDING, OPERATION);
  if (!existsSync(path)) return null;
  const text = readFileSync(path, 'utf8');
  if (!isSealed(root, 'pending', text, sealAt(root))) return null;
  const parsed = Schema.safeParse(contentOf(text));
  return parsed.success ? parsed.data : null;
}

/** Tells whether an operation waits that claw did not begin in this folder, on this machine. */
export function isPendingForeign(root: string): boolean {
  const path = join(root, PENDING, OPERATION);
  return existsSync(path) && !isSealed(root, 'pending', readFileSync(path, 'utf8'), sealAt(root));
}

/** Makes the operation count that waits in a folder, as the owner says that it is theirs. @returns whether it did not */
export function adoptPending(root: string): boolean {
  if (!isPendingForeign(root)) return false;
  sealPending(root, join(root, PENDING));
  return true;
}

/** Seals the operation in a folder that is, or becomes, `.claw/pending/` of a project. */
export function sealPending(root: string, folder: string): void {
  const text = readFileSync(join(folder, OPERATION), 'utf8');
  writeFileSync(join(folder, SEAL), sealOf(root, 'pending', text) ?? '');
}

function sealAt(root: string): string {
  const path = join(root, PENDING, SEAL);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Reads the JSON that is written here, in a fraction of the time that YAML takes; older engines wrote YAML. */
function contentOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const document = parseDocument(text);
    return document.errors.length > 0 ? null : document.toJS();
  }
}

/**
 * Restores the pending operation after a crash between the two renames of `writePending`.
 *
 * A `.former` folder from after the second rename is stale and is deleted: it must not come back once the
 * newer operation is forgotten. The caller holds the lock.
 */
export function restorePending(root: string): void {
  const cache = join(root, '.claw/cache');
  if (!existsSync(cache)) return;
  for (const name of readdirSync(cache)) {
    if (!/^pending-\d+\.former$/.test(name)) continue;
    if (existsSync(join(root, PENDING)))
      rmSync(join(cache, name), { recursive: true, force: true });
    else renameSync(join(cache, name), join(root, PENDING));
  }
}

/** A verb with its arguments. */
type Call = { readonly verb: string; readonly arguments: readonly string[] };

/** Makes the error of a command that would take the place of decisions. */
export function operationPending({ verb, arguments: args }: Call): ClawError {
  return new ClawError(
    'OPERATION_PENDING',
    `"${[verb, ...args].join(' ')}" waits for decisions: claw conflicts shows them. Finish it with claw ` +
      'continue, or forget it with claw abort.',
    { data: { verb, arguments: args } },
  );
}

/**
 * Tells the owner of an operation that is forgotten as another one takes its place; one with decisions is never
 * replaced. Nothing is told where none waits, or the same one.
 */
export function replacedNotes(root: string, next: Call): readonly string[] {
  const pending = readPending(root);
  if (pending === null || isSameCall(pending, next)) return [];
  const name = [pending.verb, ...pending.arguments].join(' ');
  return [
    `"${name}" waited for decisions and is forgotten; you had decided nothing in it yet. Run claw ${shellWords([pending.verb, ...pending.arguments])} to plan it again.`,
  ];
}

/** Tells whether two operations are the same command with the same arguments. */
export function isSameCall(one: Call, other: Call): boolean {
  const isSame = one.arguments.every((argument, at) => argument === other.arguments[at]);
  return one.verb === other.verb && one.arguments.length === other.arguments.length && isSame;
}

/** Forgets the operation that waits. @returns whether there was one */
export function clearPending(root: string): boolean {
  const folder = join(root, PENDING);
  const wasThere = existsSync(folder);
  rmSync(folder, { recursive: true, force: true });
  return wasThere;
}

/**
 * Removes what a command no longer needs, or fills a cache. By then the tree is decided, so a disk that
 * refuses must not make a failure of it: a later command sweeps what stays.
 */
export function tidyUp(work: () => void): void {
  try {
    work();
  } catch {
    // Only litter is left, and only until a later command.
  }
}
