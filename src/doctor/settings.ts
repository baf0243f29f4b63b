import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../config.ts';
import { choicesOf, discoverContributions } from '../contributions.ts';
import { brokenEnvLines, cutEnvValues } from '../env-file.ts';
import { openModels } from '../model/model.ts';
import { findWrongOwnSettings, findWrongSettings } from '../wrong-settings.ts';
import { type Examination, type Finding, ok, problem, type Subject } from './examination.ts';

const AREA = 'settings';

/** `.env` and the environment: whether they make sense, and who can read the keys. */
export const examination: Examination = {
  area: AREA,
  order: 10,
  examine: async (subject) => [
    ...(await whetherTheyParse(subject)),
    ...(await whetherContributionsParse(subject)),
    ...linesThatSetNothing(subject),
    ...whoCanRead(subject),
  ],
};

async function whetherTheyParse({ environment, projectDir }: Subject): Promise<readonly Finding[]> {
  const contributions = await discoverContributions();
  const problems = [
    ...findWrongSettings(environment, projectDir),
    ...findWrongOwnSettings(choicesOf(contributions, environment), environment, projectDir),
  ];
  if (problems.length > 0) {
    const advice = 'Fix that and say `/restart`; until then no agent runs.';
    return problems.map((wrong) => problem(AREA, wrong, advice));
  }
  const settings = readSettings(environment, projectDir);
  const { configuredName } = openModels(contributions.providers, environment, { settings });
  return [ok(AREA, `called ${settings.assistantName}, thinks with ${configuredName}`)];
}

async function whetherContributionsParse(subject: Subject): Promise<readonly Finding[]> {
  const { environment, projectDir } = subject;
  const contributions = Object.values(await discoverContributions()).flat();
  const problems = findWrongOwnSettings(contributions, environment, projectDir);
  const advice = 'Fix that and say `/restart`; until then the part that it belongs to is off.';
  return problems.map((wrong) => problem(AREA, wrong, advice));
}

function linesThatSetNothing({ projectDir }: Subject): readonly Finding[] {
  try {
    return [...brokenEnvLines(projectDir), ...cutEnvValues(projectDir)].map((broken) =>
      problem(AREA, broken, 'Fix that line and say `/restart`.'),
    );
  } catch {
    return []; // A file that cannot be read is told of above.
  }
}

function whoCanRead({ projectDir }: Subject): readonly Finding[] {
  const path = join(projectDir, '.env');
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & 0o077) === 0) return [];
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return [ok(AREA, `.env holds keys and has the mode ${mode}`, `chmod 600 ${path}`)];
}
