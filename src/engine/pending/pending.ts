import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';

export const PENDING = '.claw/pending';
/** Beside the texts of the project's own files, so under a name that none of them is likely to have. */
export const OPERATION = '.claw-operation.yaml';

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

/** Returns the operation that waits, or null. An unreadable one counts as none: it can be planned again. */
export function readPending(root: string): Pending | null {
  const path = join(root, PENDING, OPERATION);
  if (!existsSync(path)) return null;
  const parsed = Schema.safeParse(contentOf(readFileSync(path, 'utf8')));
  return parsed.success ? parsed.data : null;
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

/** Forgets the operation that waits. @returns whether there was one */
export function clearPending(root: string): boolean {
  const folder = join(root, PENDING);
  const wasThere = existsSync(folder);
  rmSync(folder, { recursive: true, force: true });
  return wasThere;
}
