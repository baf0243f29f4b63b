import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Additions, ClawError } from '@patchclaw/claw/cli';
import { type ProofRunnerContribution, RunnerUnusable } from '../../proof-runners/proof-runner.ts';
import { dataDirOf, environmentOf } from '../environment.ts';

const FOLDER = resolve(import.meta.dirname, '../../proof-runners');
/** The contract, which is no runner. */
const CONTRACT = 'proof-runner';

/**
 * Opens the runner in `src/proof-runners/<name>.ts`. Nothing else of that folder is loaded.
 *
 * @throws ClawError USAGE where there is none of that name, or it cannot be used
 */
export const openProofRunner: Additions['openProofRunner'] = async (name, parts) => {
  const file = join(FOLDER, `${name}.ts`);
  if (!/^[a-z0-9-]+$/.test(name) || name === CONTRACT || !existsSync(file)) {
    const known = namesIn(FOLDER);
    const next =
      known.length === 0
        ? 'A skill brings one: `claw apply far`.'
        : `Here is: ${known.join(', ')}.`;
    throw new ClawError('USAGE', `Nothing here runs proofs on "${name}". ${next}`);
  }
  const { runner }: { runner: ProofRunnerContribution } = await import(pathToFileURL(file).href);
  const environment = environmentOf(parts.root);
  const dataDir = dataDirOf(environment, parts.root);
  const opened = runner.open(environment, { ...parts, dataDir });
  if (opened.kind === 'wrong-settings') {
    const wrong = opened.wrong.map((one) => `${one.name} in .env ${one.problem}`).join('; ');
    throw new ClawError('USAGE', `${wrong}. Fix that, and try again.`);
  }
  try {
    return await opened.value;
  } catch (error) {
    if (!(error instanceof RunnerUnusable)) throw error;
    throw new ClawError('USAGE', error.message, { cause: error });
  }
};

function namesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .filter((name) => name !== CONTRACT);
}
