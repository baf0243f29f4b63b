import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Places } from '../prompt-section.ts';
import { beyondHere, type Here, missingHere, programLookup } from './missing-requirements.ts';
import { SKILL_FILE, type SkillFolder, type SkillReader } from './skill-folder.ts';

/** The most folders that are looked into below one root. */
const MAX_FOLDERS = 2_000;
/** A repository of skills, cloned into the folder of skills, has them three or four levels down. */
const MAX_DEPTH = 4;

/** A folder of skills, and a word for where it is. */
export type SkillRoot = { readonly path: string; readonly source: string };

/** One skill that was found. */
export type FoundSkill = {
  readonly name: string;
  readonly source: string;
  /** The skill's folder. */
  readonly path: string;
  readonly folder: SkillFolder;
  /** Requirements that are missing here. */
  readonly missing: readonly string[];
  /** What its text asks for besides, and is not here. */
  readonly beyond: readonly string[];
  /** Sources of skills of the same name that it is used in place of. */
  readonly shadows: readonly string[];
};

/** Returns where skills are looked for; of two with one name, the earlier is used. */
export function skillRoots(places: Places, extra: readonly string[]): readonly SkillRoot[] {
  return [
    ...extra.map((name) => ({ path: join(places.extra, name), source: `shared as ${name}` })),
    { path: join(places.group, 'skills'), source: 'this chat' },
    { path: join(places.global, 'skills'), source: 'all chats' },
    { path: join(places.shared, 'agent-skills'), source: 'bundled' },
  ];
}

/** Finds the skills of all roots, each name once, those that are left out last. */
export async function scanSkills(
  roots: readonly SkillRoot[],
  {
    reader,
    here,
    off,
  }: { readonly reader: SkillReader; readonly here: Here; readonly off: readonly string[] },
): Promise<readonly FoundSkill[]> {
  const found = (await Promise.all(roots.map((root) => skillsBelow(root, reader)))).flat();
  reader.keepOnly(new Set(found.map(({ path }) => path)));
  const hasProgram = programLookup(here.env['PATH']);
  const named = new Map<string, FoundSkill>();
  const leftOut: FoundSkill[] = [];
  for (const skill of found.filter(({ name }) => !off.includes(name))) {
    const first = named.get(skill.name);
    if (skill.folder.kind === 'left-out') leftOut.push(skill);
    else if (first === undefined)
      named.set(skill.name, await withMissing(skill, skill.folder, here, hasProgram));
    else named.set(skill.name, { ...first, shadows: [...first.shadows, skill.source] });
  }
  return [...named.values(), ...leftOut];
}

type Read = Extract<SkillFolder, { kind: 'read' }>;

async function withMissing(
  skill: FoundSkill,
  { file, asks }: Read,
  here: Here,
  hasProgram: (name: string) => Promise<boolean>,
): Promise<FoundSkill> {
  const [missing, beyond] = await Promise.all([
    missingHere(file.requires, here, hasProgram),
    beyondHere(asks, here, hasProgram),
  ]);
  return { ...skill, missing, beyond };
}

async function skillsBelow(root: SkillRoot, reader: SkillReader): Promise<readonly FoundSkill[]> {
  const folders = await skillFolders(root.path);
  return await Promise.all(
    folders.map(async ({ path, name }) => {
      const folder = await reader.read(path, root.path);
      return {
        name: folder.kind === 'read' ? folder.file.name : name,
        source: root.source,
        path,
        folder,
        missing: [],
        beyond: [],
        shadows: [],
      };
    }),
  );
}

/**
 * Lists the folders that hold a skill: of the root, and of folders in it that only sort them, such as a
 * repository of skills. It goes folder by folder from the top: the limit cuts off the deepest.
 */
async function skillFolders(
  root: string,
): Promise<readonly { readonly path: string; readonly name: string }[]> {
  const found: { path: string; name: string }[] = [];
  const waiting = [{ path: root, name: '', depth: 0 }];
  let seen = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { path, name, depth } = next;
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    if (depth > 0 && entries.some((entry) => entry.name === SKILL_FILE)) {
      found.push({ path, name });
      continue;
    }
    if (depth === MAX_DEPTH) continue;
    const names = entries
      .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && depth === 0))
      .map((entry) => entry.name)
      .filter((each) => !each.startsWith('.') && each !== 'node_modules')
      .sort();
    for (const each of names.slice(0, MAX_FOLDERS - seen)) {
      seen += 1;
      waiting.push({ path: join(path, each), name: each, depth: depth + 1 });
    }
  }
  return found;
}
