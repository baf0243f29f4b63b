import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type HeldCount, openHeldMessages } from '../store/messages/held-messages.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { type Examination, type Finding, problem } from './examination.ts';

const AREA = 'inbound';

/** Tells which messages wait because an inbound filter cannot look at them. */
export const examination: Examination = {
  area: AREA,
  order: 65,
  examine: async ({ dataDir }) => heldIn(join(dataDir, 'claw.db')).flatMap(findingOf),
};

/** A filter that is at work on a message is no trouble. */
function findingOf({ problem: reason, messages }: HeldCount): readonly Finding[] {
  if (reason === null) return [];
  const count = messages === 1 ? '1 message waits' : `${messages} messages wait`;
  const advice =
    'Nothing is lost: they go on when the filter works. `npx claw logs --level error` tells more; removing its skill lets them through.';
  return [problem(AREA, `${count} for the inbound filter ${reason}`, advice)];
}

function heldIn(path: string): readonly HeldCount[] {
  if (!existsSync(path)) return [];
  try {
    const database = openReadOnly(path);
    try {
      return openHeldMessages(database).counted();
    } finally {
      database.close();
    }
  } catch {
    return []; // A database that cannot be read, or is of an older tree, is told of elsewhere.
  }
}
