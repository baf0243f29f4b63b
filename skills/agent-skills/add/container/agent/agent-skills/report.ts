import { writeFile } from 'node:fs/promises';
import type { FoundSkill } from './scan.ts';

/** The most bytes that are told to the host, which reads no more than 4 MB. */
const MAX_BYTES = 4_000_000;

/**
 * Writes what was found for the host, which shows it by `/abilities` and `claw doctor`: what a skill needs is
 * known in the container only.
 */
export async function writeReport(path: string, found: readonly FoundSkill[]): Promise<void> {
  const skills: string[] = [];
  let bytes = 0;
  for (const skill of found) {
    const line = JSON.stringify(reported(skill));
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES) break;
    skills.push(line);
  }
  await writeFile(path, `{"count":${found.length},"skills":[${skills.join(',')}]}\n`);
}

function reported(skill: FoundSkill): object {
  const { name, source, path: folder, missing, shadows } = skill;
  const common = { name, source, folder, missing, shadows };
  if (skill.folder.kind === 'left-out') return { ...common, leftOut: skill.folder.reason };
  const { description, always, license, compatibility, allowedTools, note } = skill.folder.file;
  return { ...common, description, always, license, compatibility, allowedTools, note };
}
