import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reasonNotToStart } from '../store/database-condition.ts';
import { isDamage, REPAIR } from '../store/error.ts';
import { changedMigrations, openReadOnly } from '../store/open-read-only.ts';
import { databasesFolder } from '../store/own-databases.ts';
import { type Examination, type Finding, ok, problem } from './examination.ts';
import { sizeText } from './size.ts';

const AREA = 'database';
const LARGE_LOG = 64 * 1024 * 1024;

/** Checks that SQLite finds the database whole, and that its migrations are unchanged. */
export const examination: Examination = {
  area: AREA,
  order: 60,
  async examine({ projectDir, dataDir }) {
    const path = join(dataDir, 'claw.db');
    const own = ownDatabases(dataDir).flatMap(ownFinding);
    const reason = reasonNotToStart({ projectDir, dataDir });
    if (reason?.code === 'DATABASE_MISSING') {
      return [
        problem(AREA, reason.message, 'The assistant does not start until this is decided.'),
        ...own,
      ];
    }
    if (!existsSync(path)) return [ok(AREA, 'there is none yet; the first start makes it'), ...own];
    return [...(await contents(path)), ...writeAheadLog(path), ...own];
  },
};

function ownDatabases(dataDir: string): readonly string[] {
  const folder = databasesFolder(dataDir);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const own = names.filter((name) => name.endsWith('.db')).sort();
  // A running assistant holds the link to WhatsApp for itself alone.
  const link = join(dataDir, 'whatsapp/link.db');
  return [...own.map((name) => join(folder, name)), ...(existsSync(link) ? [link] : [])];
}

/** Checks the database of a channel, a tool or the like; of those that are whole nothing is said. */
function ownFinding(path: string): readonly Finding[] {
  const problem = problemIn(path);
  return problem === null ? [] : [damaged(path, problem)];
}

function problemIn(path: string): string | null {
  try {
    const database = openReadOnly(path);
    try {
      const problems = database.pragma('quick_check', { simple: true });
      return problems === 'ok' ? null : String(problems);
    } finally {
      database.close();
    }
  } catch (error) {
    if (isBusy(error)) return null;
    return error instanceof Error ? error.message : String(error);
  }
}

function isBusy(error: unknown): boolean {
  return String((error as { readonly code?: unknown }).code).startsWith('SQLITE_BUSY');
}

async function contents(path: string): Promise<readonly Finding[]> {
  const database = openReadOnly(path);
  try {
    const problems = database.pragma('quick_check', { simple: true });
    if (problems !== 'ok') return [damaged(path, String(problems))];
    const changed = changedMigrations(database);
    if (changed.length > 0) return changed.map(changedFinding);
    return [ok(AREA, `${sizeText(statSync(path).size + logBytes(path))}, whole`)];
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [damaged(path, error instanceof Error ? error.message : String(error))];
  } finally {
    database.close();
  }
}

function damaged(path: string, reason: string): Finding {
  return problem(AREA, `${path} is damaged: ${reason}`, REPAIR);
}

function changedFinding(message: string): Finding {
  return problem(AREA, message, 'The assistant cannot start until this is fixed.');
}

function writeAheadLog(path: string): readonly Finding[] {
  const size = logBytes(path);
  if (size < LARGE_LOG) return [];
  const message = `${sizeText(size)} of its log are not folded in`;
  return [
    ok(
      AREA,
      message,
      'A program has been reading it for a long time; restart the assistant to make it small again.',
    ),
  ];
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
