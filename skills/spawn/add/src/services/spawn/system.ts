import { PROFILES_FILE, type Profile, parseProfiles, pathOf } from '../../lib/spawn/profiles.ts';

type ReadGroupFile = (folder: string, path: readonly string[]) => Promise<string | null>;

/** Files that a sub-agent without a profile is given, where they are there. */
const USUAL_FILES = ['AGENTS.md', 'ENVIRONMENT.md'];

/**
 * Returns a profile by its name; the usual one has no name.
 *
 * @throws Error in words for the agent
 */
export async function findProfile(read: ReadGroupFile, name: string | null): Promise<Profile> {
  if (name === null) return {};
  const text = (await read('global', [PROFILES_FILE])) ?? '';
  const profiles = parseProfiles(text);
  if (typeof profiles === 'string') throw new Error(profiles);
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const known = Object.keys(profiles);
  const list = known.length === 0 ? 'There are none' : `There are ${known.join(', ')}`;
  throw new Error(`There is no profile ${name}. ${list}; without a name the usual one is taken.`);
}

/**
 * Writes the system prompt of a sub-agent: what it is, the words of its profile, the files that it begins with.
 *
 * @throws Error in words for the agent, where a file that the profile names is not there
 */
export async function systemOf(
  read: ReadGroupFile,
  {
    folder,
    profile,
    head,
  }: { readonly folder: string; readonly profile: Profile; readonly head: string },
): Promise<string> {
  const find = async (path: string) => {
    const names = pathOf(path) ?? [];
    return (await read(folder, names)) ?? (await read('global', names));
  };
  const named = profile.bootstrap_files ?? [];
  const parts = [head, profile.system_prompt];
  for (const path of [profile.system_prompt_file ?? [], named].flat()) {
    const text = await find(path);
    if (text === null)
      throw new Error(
        `The profile names ${path}, which is not in the folder of the chat, nor in groups/global.`,
      );
    parts.push(path === profile.system_prompt_file ? text : `${path}:\n${text}`);
  }
  for (const path of profile.bootstrap_files === undefined ? USUAL_FILES : []) {
    const text = await find(path);
    if (text !== null) parts.push(`${path}:\n${text}`);
  }
  return parts
    .flatMap((part) => part?.trim() || [])
    .join('\n\n')
    .slice(0, LONGEST);
}

/** A turn's frame has to hold it beside all else. */
const LONGEST = 200_000;
