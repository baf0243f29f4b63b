import { writeFile } from 'node:fs/promises';
import type { FoundSkill } from './scan.ts';

/** The most skills that are told to the host. */
const MAX_REPORTED = 2_000;

/**
 * Writes what was found for the host, which shows it by `/abilities` and `claw doctor`: what a skill needs is
 * known in the container only.
 */
export async function writeReport(path: string, found: readonly FoundSkill[]): Promise<void> {
  const skills = found.slice(0, MAX_REPORTED).map((skill) => {
    const { name, source, path: folder, missing, shadows } = skill;
    const common = { name, source, folder, missing, shadows };
    if (skill.folder.kind === 'left-out') return { ...common, leftOut: skill.folder.reason };
    const { description, always, license, compatibility, allowedTools, note } = skill.folder.file;
    return { ...common, description, always, license, compatibility, allowedTools, note };
  });
  await writeFile(path, `${JSON.stringify({ count: found.length, skills })}\n`);
}
