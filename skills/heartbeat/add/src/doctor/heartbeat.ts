import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { HEARTBEAT_FILE, isEmptyOfWork } from '../lib/heartbeat/instructions.ts';
import { describeBeat, HeartbeatEnvironment } from '../lib/heartbeat/settings.ts';
import { readTextBeneath } from '../lib/open-beneath.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { defineExamination, type Finding, ok, problem } from './examination.ts';

const AREA = 'heartbeat';

/** Says when the heartbeat looks, whether there is anything to look at, and whether it fails. */
export const examination = defineExamination({
  area: AREA,
  order: 76,
  settings: HeartbeatEnvironment,
  async examine({ projectDir, dataDir }, own) {
    const zone = own.HEARTBEAT_TIME_ZONE ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
    const when = ok(AREA, `it looks ${describeBeat(own, zone)}`);
    return [when, await listIn(projectDir), ...failing(dataDir)];
  },
});

async function listIn(projectDir: string): Promise<Finding> {
  for (const folder of ['main', 'global']) {
    const text = await textOf(join(projectDir, 'groups', folder));
    if (text !== null && !isEmptyOfWork(text)) {
      return ok(AREA, `groups/${folder}/${HEARTBEAT_FILE} lists what to look at`);
    }
  }
  return ok(
    AREA,
    'there is nothing to look at, so no model is asked',
    `Write into groups/main/${HEARTBEAT_FILE} what the assistant should keep an eye on, or ask it to.`,
  );
}

/** As the service reads it. */
const MAX_BYTES = 1_048_576;

async function textOf(folder: string): Promise<string | null> {
  try {
    return await readTextBeneath(folder, [HEARTBEAT_FILE], MAX_BYTES);
  } catch {
    return null; // Not there, or a link, which the heartbeat does not follow either.
  }
}

const Failing = z.object({ value: z.int() }).optional();

function failing(dataDir: string): readonly Finding[] {
  const path = join(dataDir, 'databases/service-heartbeat.db');
  if (!existsSync(path)) return [];
  const database = openReadOnly(path);
  try {
    const row = database.prepare("SELECT value FROM state WHERE key = 'failing'").get();
    if (Failing.parse(row)?.value !== 1) return [];
    return [problem(AREA, 'the last beat failed', '`npx claw logs --level warn` tells more.')];
  } finally {
    database.close();
  }
}
