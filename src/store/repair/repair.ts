import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openMemoryDatabase } from '../database.ts';
import { StoreError } from '../error.ts';
import { discoverMigrations, type Migration } from '../migrations.ts';
import { type ReferenceSchema, type Salvaged, salvage } from './salvage.ts';

/** A repaired database: its rows, and where the damaged file is now. */
export type Repaired = Salvaged & { readonly damagedFile: string };

/** Files that SQLite keeps beside a database. */
const COMPANIONS = ['-wal', '-shm', '-journal'];

/** Returns the schema of migrations; a database that has seen others is made from those that it has seen. */
export function schemaOfMigrations(
  now: number,
  folder = `${import.meta.dirname}/../migrations`,
): ReferenceSchema {
  const all = discoverMigrations(folder);
  return {
    open(applied) {
      const byName = new Map(all.map((migration) => [migration.name, migration]));
      const chosen =
        applied === null
          ? all
          : applied
              .map((name) => byName.get(name))
              .filter((one): one is Migration => one !== undefined);
      return openMemoryDatabase(chosen, now);
    },
  };
}

/**
 * Puts a new database with every readable row in the place of a damaged one, and moves that one aside, with its log. The
 * damaged file itself is never written to. The new one takes its place only if it has tables and SQLite finds no fault
 * in it. If a kill comes in between, `finishRepair` goes on.
 *
 * @throws StoreError NOTHING_SALVAGED, with the damaged file in its place
 */
export function repairDatabase(
  path: string,
  { reference, stamp }: { readonly reference: ReferenceSchema | null; readonly stamp: string },
): Repaired {
  const unfinished = `${path}.repairing`;
  for (const suffix of ['', ...COMPANIONS]) rmSync(unfinished + suffix, { force: true });
  const salvaged = salvage(path, unfinished, reference);
  const hasTables = salvaged.tables.some(({ name }) => name !== 'migrations');
  if (!hasTables || salvaged.integrity !== 'ok') {
    rmSync(unfinished, { force: true });
    const why = hasTables
      ? `the copy is not whole (${salvaged.integrity})`
      : 'no table was found in it';
    throw new StoreError(
      'NOTHING_SALVAGED',
      `${path} could not be repaired: ${why}. The file was left as it is. Put a copy of it back, or move it away and start with an empty one.`,
    );
  }
  sync(unfinished);
  const damagedFile = `${path}.damaged-${stamp}`;
  // From here on the new file is complete, and its name says so.
  renameSync(unfinished, `${path}.repaired`);
  moveAside(path, damagedFile);
  putInPlace(path);
  return { ...salvaged, damagedFile };
}

/** Finishes a repair that was killed while files changed places. Returns whether there was one. */
export function finishRepair(path: string): boolean {
  if (existsSync(path) || !existsSync(`${path}.repaired`)) return false;
  const aside = asideFiles(path).at(-1);
  if (aside !== undefined) moveAside(path, aside);
  putInPlace(path);
  return true;
}

/** Lists the damaged files that repairs of this database have moved aside, oldest first. */
export function asideFiles(path: string): readonly string[] {
  const [folder, prefix] = [dirname(path), `${basename(path)}.damaged-`];
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && !COMPANIONS.some((end) => name.endsWith(end)))
    .sort()
    .map((name) => join(folder, name));
}

function moveAside(path: string, aside: string): void {
  // The database first: without it nobody opens the log, which would spoil the new one.
  for (const suffix of ['', ...COMPANIONS]) {
    if (statSync(path + suffix, { throwIfNoEntry: false }) !== undefined) {
      renameSync(path + suffix, aside + suffix);
    }
  }
}

function putInPlace(path: string): void {
  renameSync(`${path}.repaired`, path);
  sync(dirname(path));
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
