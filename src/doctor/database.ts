import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
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
  async examine({ dataDir }) {
    const path = join(dataDir, 'claw.db');
    const own = ownDatabases(dataDir).flatMap(ownFinding);
    if (!existsSync(path)) return [ok(AREA, 'there is none yet; the first start makes it'), ...own];
    return [...(await contents(path)), ...writeAheadLog(path), ...own];
  },
};

function ownDatabases(dataDir: string): readonly string[] {
  const folder = databasesFolder(dataDir);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.db'));
  return names.sort().map((name) => join(folder, name));
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
    return error instanceof Error ? error.message : String(error);
  }
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
    const code = (error as { readonly code?: unknown }).code;
    if (code !== 'SQLITE_CORRUPT' && code !== 'SQLITE_NOTADB') throw error;
    return [damaged(path, error instanceof Error ? error.message : String(error))];
  } finally {
    database.close();
  }
}

function damaged(path: string, reason: string): Finding {
  const advice =
    'Stop the assistant, copy the data folder away, then: ' +
    `sqlite3 ${path} .recover | sqlite3 ${path}.new, and put that in its place.`;
  return problem(AREA, `${path} is damaged: ${reason}`, advice);
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
