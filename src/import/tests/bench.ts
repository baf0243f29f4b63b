import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvFile } from '../../env-file.ts';
import { type Database, openDatabase } from '../../store/database.ts';
import { discoverMigrations } from '../../store/migrations.ts';
import { type ImportOptions, importFrom } from '../import.ts';
import { openTarget } from '../target.ts';
import { planUndo, recoverImport, undoImport } from '../undo.ts';

/** Saturday noon, when nothing of the fixtures is due. */
export const NOW = Date.parse('2026-11-28T12:00:00Z');

const MIGRATIONS = join(import.meta.dirname, '../../store/migrations');

/** Ids that are the same in each run. */
export function countedIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
  };
}

/** A project of an assistant in a temporary folder, into which is imported. */
export class Installation {
  readonly project = mkdtempSync(join(tmpdir(), 'claw-import-'));
  readonly data = join(this.project, 'data');

  constructor() {
    mkdirSync(join(this.project, 'groups'), { recursive: true });
    this.open((database) => database.pragma('user_version'));
  }

  open<T>(use: (database: Database) => T): T {
    const database = openDatabase(join(this.data, 'claw.db'), discoverMigrations(MIGRATIONS), NOW);
    try {
      return use(database);
    } finally {
      database.close();
    }
  }

  all(sql: string): readonly Record<string, unknown>[] {
    return this.open((database) => database.prepare(sql).all() as Record<string, unknown>[]);
  }

  import(
    source: { readonly root: string; readonly home: string },
    over: Partial<ImportOptions> & { readonly withKeys?: boolean } = {},
  ) {
    return importFrom(source.root, {
      roots: { project: this.project, data: this.data },
      home: source.home,
      timeZone: 'Europe/Berlin',
      assistantName: 'Andy',
      env: readEnvFile(this.project),
      now: NOW,
      newId: randomUUID,
      progress: () => {},
      lookAtSystem: () => ({ processes: [], units: [], containers: [] }),
      from: null,
      isTakeOver: false,
      makeBackup: null,
      decide: async () => ({ isWanted: true, withKeys: over.withKeys ?? true }),
      ...over,
    });
  }

  undo() {
    const target = openTarget({ project: this.project, data: this.data }, NOW);
    try {
      recoverImport(target);
      return { plan: planUndo(target), kept: undoImport(target) };
    } finally {
      target.database.close();
    }
  }

  recover() {
    const target = openTarget({ project: this.project, data: this.data }, NOW);
    try {
      return recoverImport(target);
    } finally {
      target.database.close();
    }
  }

  /** Everything that an import could change: rows of all tables but the counters and the words of the index, and files. */
  state(): unknown {
    const rows = this.open((database) => {
      const names = database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        .pluck()
        .all()
        .map(String)
        .filter((name) => !/_words|^sqlite_|^indexed_messages$|^migrations$/.test(name));
      return names.map((name) => [name, database.prepare(`SELECT * FROM ${name}`).all()]);
    });
    const isOurs = (path: string) => !/^data\/(claw\.db|imports|whatsapp\/link\.db-)/.test(path);
    return { rows, files: digests(this.project).filter(([path]) => isOurs(String(path))) };
  }
}

/** Every file below a folder with the digest of its bytes, its mode and its time. */
export function digests(root: string, at = ''): readonly (readonly (string | number)[])[] {
  return readdirSync(join(root, at))
    .sort()
    .flatMap((name) => {
      const path = at === '' ? name : `${at}/${name}`;
      const stats = lstatSync(join(root, path));
      if (stats.isDirectory()) return digests(root, path);
      const digest = createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('hex');
      return [[path, digest, stats.mode, stats.mtimeMs]];
    });
}
