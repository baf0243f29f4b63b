import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ClawError, type DiscoveredResult, type Invocation } from '@patchclaw/claw/cli';
import { z } from 'zod';
import { dataDirOf, environmentOf } from '../environment.ts';
import { isAssistantRunning } from './running.ts';

const CLAW = resolve(import.meta.dirname, '../../../bin/claw.js');
const Newest = z.object({ product: z.string(), source: z.string(), at: z.int() });

/**
 * Takes the newest import back for `claw undo`, if no command of the engine came after it.
 *
 * @param since when the newest command was committed, in milliseconds since the epoch; null for none
 * @returns null where nothing was imported since
 * @throws ClawError LOCK_HELD while the assistant runs, CONSENT_NEEDED, INTERRUPTED, IO_FAILED
 */
export async function undoImport(
  { root, options, ui, signal }: Invocation,
  since: number | null,
): Promise<DiscoveredResult | null> {
  const dataDir = dataDirOf(environmentOf(root), root);
  const newest = await newestImport(join(dataDir, 'claw.db'));
  if (newest === null || (since !== null && newest.at <= since)) return null;
  const undone = `the import of ${newest.product} from ${newest.source}`;
  if (await isAssistantRunning(dataDir)) {
    // The assistant asks for the undo of its code.
    if (options.json === true) return null;
    throw new ClawError('LOCK_HELD', `The newest change is ${undone}. Stop the assistant first.`);
  }
  const isAsked = options.yes !== true && options.json !== true && ui.canAsk;
  const question = `Take back ${undone}? Chats that came with it are unregistered; what was said since stays in the history.`;
  if (isAsked && !(await ui.ask(question))) {
    throw new ClawError('CONSENT_NEEDED', 'You said no; nothing was changed.');
  }
  const words = ['import', '--undo', ...(isAsked || options.yes === true ? ['--yes'] : [])];
  const { stdout } = await promisify(execFile)(process.execPath, [CLAW, ...words, '--cwd', root], {
    cwd: root,
    signal,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw new ClawError('INTERRUPTED', 'It was ended.', { cause });
    const reason = String(Object(cause)['stderr'] ?? '').trim() || String(cause);
    throw new ClawError('IO_FAILED', reason.replace(/^[A-Z_]+: /, ''), { cause });
  });
  return {
    ...{ verb: 'undo', outcome: 'done', error: null, changes: [], conflicts: [], warnings: [] },
    data: { undone, plan: '' },
    lines: stdout.trimEnd().split('\n'),
  };
}

/** Returns the newest import that was not taken back; null where there is none, or no database that could hold one. */
async function newestImport(path: string): Promise<z.output<typeof Newest> | null> {
  if (!existsSync(path)) return null;
  const { default: Database } = await import('better-sqlite3');
  try {
    const database = new Database(path, { readonly: true, timeout: 2_000 });
    try {
      const row = database
        .prepare('SELECT product, source, imported_at AS at FROM imports ORDER BY id DESC LIMIT 1')
        .get();
      return Newest.optional().parse(row) ?? null;
    } finally {
      database.close();
    }
  } catch {
    return null; // No table of imports, or no database: what the engine would undo is not in it.
  }
}
