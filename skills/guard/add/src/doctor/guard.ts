import { statSync } from 'node:fs';
import { z } from 'zod';
import { auditPaths, lastEntries } from '../guards/guard/audit-log.ts';
import { defineExamination, ok, problem } from './examination.ts';

const AREA = 'guard';
const LOOKED_AT = 1_000;

/** Tells what the guard has decided lately, and whether the audit log is readable by others. */
export const examination = defineExamination({
  area: AREA,
  order: 67,
  settings: z.object({}),
  async examine({ dataDir }) {
    const paths = auditPaths(dataDir);
    if (paths.length === 0) return [ok(AREA, 'has looked at no call yet')];
    const open = paths.find((path) => (statSync(path).mode & 0o077) !== 0);
    if (open !== undefined) {
      return [problem(AREA, 'others can read the audit log', `chmod 600 ${open}`)];
    }
    const entries = lastEntries(dataDir, () => true, LOOKED_AT);
    const refused = entries.filter(({ decision }) => decision === 'refused').length;
    const asked = entries.filter((entry) => entry.asked).length;
    const message = `of the last ${entries.length} calls of tools, ${refused} were refused and ${asked} asked about`;
    return [ok(AREA, message, '`/audit` shows them.')];
  },
});
