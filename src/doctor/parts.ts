import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readWhatFits } from '../config.ts';
import type { Contributions } from '../contributions.ts';
import type { SilentContribution } from '../lib/contribution.ts';
import { TreeFault } from '../lib/tree-fault.ts';
import { openParts } from '../parts.ts';
import { namesOfAgentTools } from '../sandbox/agent-link/tool-names.ts';
import { openMemoryDatabases } from '../store/own-databases.ts';
import { type Examination, type Finding, ok, problem, type Subject } from './examination.ts';
import { examineApart } from './parts/examine-apart.ts';

const AREA = 'parts';
const MEND =
  'Fix or remove that file, or take the last change back with `npx claw undo`: until then the assistant cannot start.';

/** Opens channels, tools and all that plugs in as a start does, in a process of its own, and starts none of them. */
export const examination: Examination = {
  area: AREA,
  order: 15,
  examine: (subject) =>
    examineApart(join(import.meta.dirname, 'parts/child.ts'), subject, {
      area: AREA,
      advice: MEND,
    }),
};

/** Tells which contributions a start would make, and why it would not make the others. */
export function examineParts(contributions: Contributions, subject: Subject): readonly Finding[] {
  const { environment, projectDir, now } = subject;
  const { settings } = readWhatFits(environment, projectDir);
  const databases = openMemoryDatabases({ now });
  try {
    namesOfAgentTools(projectDir); // Two of one name would refuse the start.
    const { silentParts, silentChannels } = openParts({
      contributions,
      environment,
      settings,
      projectDir,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      databases,
      ownerConsole: null,
      log: { info() {}, warn() {}, error() {} },
      now,
      newId: () => 'doctor',
      random: () => 0,
    });
    // What has an examination of its own tells there what is not set yet.
    const isTold = ({ name }: SilentContribution) =>
      existsSync(join(import.meta.dirname, `${name}.ts`));
    const channels = silentChannels
      .filter((one) => !isTold(one))
      .map((one) => ({ kind: 'channel', ...one }));
    const parts = silentParts.filter((one) => one.unusable !== undefined || !isTold(one));
    const off = [...parts, ...channels].flatMap((part) => findingsOf(part, environment));
    const count = Object.values(contributions).flat().length;
    return [ok(AREA, `${count} are loaded and can be made`), ...off];
  } catch (error) {
    if (!(error instanceof TreeFault)) throw error;
    return [problem(AREA, error.message, MEND)];
  } finally {
    databases.close();
  }
}

/** A wrong setting is told with the settings. */
function findingsOf(
  { kind, name, needs, wrong, unusable }: SilentContribution & { readonly kind: string },
  environment: Subject['environment'],
): readonly Finding[] {
  if (unusable !== undefined) {
    const advice = 'Fix that and say `/restart`; until then only this part is off.';
    return [problem(AREA, `the ${kind} ${name} is off: ${unusable}`, advice)];
  }
  const unset = needs.filter((setting) => !environment[setting]);
  if (wrong.length > 0 || unset.length === 0) return [];
  const verb = unset.length === 1 ? 'is' : 'are';
  const message = `the ${kind} ${name} is off: ${unset.join(' and ')} ${verb} not set`;
  return [ok(AREA, message, 'Set that in .env and say `/restart`, if you want to use it.')];
}
