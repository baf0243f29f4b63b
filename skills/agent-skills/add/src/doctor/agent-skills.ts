import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readSkillReport } from '../lib/agent-skills-report.ts';
import { defineExamination, type Finding, ok, problem } from './examination.ts';

const AREA = 'abilities';

/** Tells of each chat how many agent skills it has, and which are left out. */
export const examination = defineExamination({
  area: AREA,
  order: 62,
  settings: z.object({}),
  async examine({ dataDir }) {
    const folders = (await readdir(join(dataDir, 'sessions')).catch(() => [])).sort();
    const findings = await Promise.all(folders.map((folder) => findingsOf(dataDir, folder)));
    const all = findings.flat();
    if (all.length > 0) return all;
    return [ok(AREA, 'no chat has looked for its agent skills yet', 'The next turn does.')];
  },
});

async function findingsOf(dataDir: string, folder: string): Promise<readonly Finding[]> {
  const report = await readSkillReport(dataDir, folder);
  if (report === null) return [];
  const leftOut = report.skills.filter((skill) => skill.leftOut !== undefined);
  const lacking = report.skills.filter(({ missing }) => missing.length > 0);
  const reaching = report.skills.filter(({ beyond }) => beyond.length > 0).length;
  const more =
    reaching === 0 ? '' : `; the text of ${reaching} asks for more than the container has`;
  const usable = report.count - leftOut.length - lacking.length;
  const without = lacking.map(({ name, missing }) => `${name} (${missing.join(', ')})`);
  const advice = lacking.length === 0 ? null : `Missing: ${without.slice(0, 5).join('; ')}.`;
  return [
    ok(
      AREA,
      `${folder}: ${usable} usable, ${lacking.length} with something missing${more}`,
      advice,
    ),
    ...leftOut
      .slice(0, 5)
      .map(({ name, folder: path, leftOut: reason }) =>
        problem(AREA, `${folder}: ${name} is left out: ${reason}`, `Mend or remove ${path}.`),
      ),
  ];
}
