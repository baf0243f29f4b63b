import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openMeta } from '../store/meta.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { type KnownService, openServiceStates } from '../store/service-states.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import { type Examination, type Finding, ok, problem, type Subject } from './examination.ts';

const AREA = 'services';

/** The services of the running assistant: which of them work. */
export const examination: Examination = {
  area: AREA,
  order: 75,
  examine: async (subject) =>
    isRunning(subject.dataDir) ? servicesIn(subject).map(findingOf) : [],
};

function findingOf({ name, state, reason, since }: KnownService): Finding {
  const moment = new Date(since).toLocaleString('sv');
  if (state !== 'failed') return ok(AREA, `${name} is ${state} since ${moment}`);
  const advice =
    '`npx claw logs --level warn` tells more. It is started again by itself after a pause.';
  return problem(AREA, `${name} failed at ${moment}: ${reason}`, advice);
}

function servicesIn({ dataDir }: Subject): readonly KnownService[] {
  const path = join(dataDir, 'claw.db');
  if (!existsSync(path)) return [];
  try {
    const database = openReadOnly(path);
    try {
      return openServiceStates(openMeta(database)).all();
    } finally {
      database.close();
    }
  } catch {
    return []; // A database that cannot be read is a finding of its own.
  }
}
