import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { databasesFolder } from '../../store/own-databases.ts';

/**
 * Returns the data that skills keep under names of their own, as paths that begin with the data folder's name: a
 * folder called as the skill, and databases of its contributions, such as `data/databases/channel-telegram.db`.
 */
export function leftData(dataDir: string, skills: readonly string[]): readonly string[] {
  const databases = databasesIn(dataDir);
  const names = skills.flatMap((skill) => [
    ...(existsSync(join(dataDir, skill)) ? [skill] : []),
    ...databases.filter((name) => /^([a-z]+)-(.*)\.db$/.exec(name)?.[2] === skill).map(inDatabases),
  ]);
  return names.map((name) => join(basename(dataDir), name));

  function inDatabases(name: string): string {
    return join(basename(databasesFolder(dataDir)), name);
  }
}

function databasesIn(dataDir: string): readonly string[] {
  try {
    return readdirSync(databasesFolder(dataDir)).sort();
  } catch {
    return [];
  }
}
