import { join } from 'node:path';
import { readTextBeneath } from '../lib/open-beneath.ts';
import { PROFILES_FILE, parseProfiles } from '../lib/spawn/profiles.ts';
import { describeLimits, SpawnEnvironment } from '../lib/spawn/settings.ts';
import { defineExamination, type Finding, ok, problem } from './examination.ts';

const AREA = 'spawn';

/** Says whether sub-agents may be started, and whether their profiles can be read. */
export const examination = defineExamination({
  area: AREA,
  order: 77,
  settings: SpawnEnvironment,
  async examine({ projectDir }, own) {
    if (own.SPAWN === undefined) {
      return [ok(AREA, 'sub-agents are off', '`npx claw setup spawn` lets the agent start them.')];
    }
    return [ok(AREA, `sub-agents: ${describeLimits(own)}`), ...(await profilesIn(projectDir))];
  },
});

async function profilesIn(projectDir: string): Promise<readonly Finding[]> {
  const text = await textOf(join(projectDir, 'groups/global'));
  if (text === null) return [];
  const profiles = parseProfiles(text);
  if (typeof profiles === 'string') {
    return [problem(AREA, profiles, `Mend groups/global/${PROFILES_FILE}.`)];
  }
  return [ok(AREA, `profiles: ${Object.keys(profiles).join(', ') || 'none'}`)];
}

/** As the service reads it. */
const MAX_BYTES = 1_048_576;

async function textOf(folder: string): Promise<string | null> {
  try {
    return await readTextBeneath(folder, [PROFILES_FILE], MAX_BYTES);
  } catch {
    return null; // Not there, or a link, which the service does not follow either.
  }
}
