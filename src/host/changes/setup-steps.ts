import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { readKeptFile } from '../../lib/kept-packages.ts';

const MAX_CHARS = 4_000;

/** What a skill's `SKILL.md` says: its section on how to set it up, null where it has none, and all of it. */
export type SetupSteps = { readonly section: string | null; readonly whole: string };

/** Returns the set-up steps of a skill's `SKILL.md`; empty where there is no such file. */
export async function setupSteps(projectDir: string, skill: string): Promise<SetupSteps> {
  const page = await readPage(projectDir, skill);
  const text = fromProject(page.replace(/^---\n[\s\S]*?\n---\n/, ''), skill).trim();
  return {
    section: setupSection(text)?.slice(0, MAX_CHARS) ?? null,
    whole: text.slice(0, MAX_CHARS),
  };
}

/** Makes links of the page to other files lead from the project's folder: a chat knows no folder of the skill. */
function fromProject(page: string, skill: string): string {
  return page.replace(
    /\]\((\.\.?\/[^)\s]+)\)/g,
    (_, path: string) => `](${posix.join('skills', skill, path)})`,
  );
}

async function readPage(projectDir: string, skill: string): Promise<string> {
  try {
    return await readFile(join(projectDir, 'skills', skill, 'SKILL.md'), 'utf8');
  } catch {
    // Not here: the kept package may have it, and without any the settings are named all the same.
    return readKeptFile(projectDir, skill, 'SKILL.md')?.toString('utf8') ?? '';
  }
}

function setupSection(text: string): string | null {
  const lines = text.split('\n');
  const start = lines.findIndex((line) =>
    /^#{1,6}\s+.*\b(set[- ]?up|set it up|setting up)\b/i.test(line),
  );
  if (start === -1) return null;
  const depth = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 1;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => (/^(#+)\s/.exec(line)?.[1]?.length ?? 99) <= depth);
  return (end === -1 ? rest : rest.slice(0, end)).join('\n').trim();
}
