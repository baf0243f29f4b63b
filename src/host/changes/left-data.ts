import { existsSync, readdirSync } from 'node:fs';
import { basename, join, parse } from 'node:path';
import { databasesFolder } from '../../store/own-databases.ts';

/** The folder of what is kept for each chat and goes with it. */
const OF_CHATS = 'of-chats';

/**
 * Returns the data that skills keep under names of their own, as paths that begin with the data folder's name: a
 * folder called as the skill, what it has in the folders of chats (one path, with a star, for all of them), and
 * databases of its contributions, such as `data/databases/channel-telegram.db`.
 */
export function leftData(dataDir: string, skills: readonly string[]): readonly string[] {
  const databases = namesIn(databasesFolder(dataDir));
  const names = skills.flatMap((skill) => [
    ...(existsSync(join(dataDir, skill)) ? [skill] : []),
    ...inChats(dataDir, skill).map((name) => join(OF_CHATS, '*', name)),
    ...databases.filter((name) => /^([a-z]+)-(.*)\.db$/.exec(name)?.[2] === skill).map(inDatabases),
  ]);
  return names.map((name) => join(basename(dataDir), name));

  function inDatabases(name: string): string {
    return join(basename(databasesFolder(dataDir)), name);
  }
}

/** Returns the names, as `guard` or `voice.json`, under which a skill keeps data of chats. */
function inChats(dataDir: string, skill: string): readonly string[] {
  const chats = join(dataDir, OF_CHATS);
  const names = namesIn(chats).flatMap((chat) => namesIn(join(chats, chat)));
  return [...new Set(names)].filter((name) => name === skill || parse(name).name === skill);
}

/** Returns nothing for a folder that is not there. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
