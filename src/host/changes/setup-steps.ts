import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readKeptFile } from '../../lib/kept-packages.ts';

const MAX_CHARS = 4_000;

/**
 * Returns the set-up steps of a skill's `SKILL.md`: its section on that, else all of it; empty when there is
 * none.
 */
export async function setupSteps(projectDir: string, skill: string): Promise<string> {
  const text = await readPage(projectDir, skill);
  return setupSection(text.replace(/^---\n[\s\S]*?\n---\n/, '')).slice(0, MAX_CHARS);
}

async function readPage(projectDir: string, skill: string): Promise<string> {
  try {
    return await readFile(join(projectDir, 'skills', skill, 'SKILL.md'), 'utf8');
  } catch {
    // Not here: the kept package may have it, and without any the settings are named all the same.
    return readKeptFile(projectDir, skill, 'SKILL.md')?.toString('utf8') ?? '';
  }
}

function setupSection(text: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) =>
    /^#{1,6}\s+.*\b(set[- ]?up|set it up|setting up)\b/i.test(line),
  );
  if (start === -1) return text.trim();
  const depth = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 1;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => (/^(#+)\s/.exec(line)?.[1]?.length ?? 99) <= depth);
  return (end === -1 ? rest : rest.slice(0, end)).join('\n').trim();
}
