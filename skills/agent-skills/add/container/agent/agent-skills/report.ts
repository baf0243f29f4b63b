import { writeFile } from 'node:fs/promises';
import type { FoundSkill } from './scan.ts';

/** The most that is told to the host, which reads no more than 4 MB and 20,000 values. */
const MAX_BYTES = 4_000_000;
const MAX_VALUES = 18_000;

/**
 * Writes what was found for the host, which shows it by `/abilities` and `claw doctor`: what a skill needs is
 * known in the container only.
 */
export async function writeReport(path: string, found: readonly FoundSkill[]): Promise<void> {
  const skills: string[] = [];
  let bytes = 0;
  let values = 0;
  for (const skill of found) {
    const line = JSON.stringify(reported(skill), (_key, value) => {
      // The host counts each comma and each bracket that opens.
      values += typeof value === 'object' && value !== null ? 2 : 1;
      return value;
    });
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES || values > MAX_VALUES) break;
    skills.push(line);
  }
  await writeFile(path, `{"count":${found.length},"skills":[${skills.join(',')}]}\n`);
}

function reported(skill: FoundSkill): object {
  const { name, source, path: folder, missing, beyond, shadows } = skill;
  const common = { name, source, folder, missing, beyond, shadows };
  if (skill.folder.kind === 'left-out') return { ...common, leftOut: skill.folder.reason };
  const { description, always, license, compatibility, allowedTools, note } = skill.folder.file;
  // Most ask for nothing: only what there is takes place.
  const asks = Object.fromEntries(
    Object.entries(skill.folder.asks).filter(([, list]) => list.length > 0),
  );
  return { ...common, description, always, license, compatibility, allowedTools, note, asks };
}
