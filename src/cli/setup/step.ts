import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ClawError, CliError, ended, type Invocation } from '@patchclaw/claw/cli';
import {
  discoverSetupSteps,
  type SetupOutcome,
  SetupRefused,
  type SetupStep,
} from '../../setup/step.ts';
import { restartedText, restartRunning } from '../assistant/restart.ts';
import { dataDirOf, environmentOf } from '../environment.ts';
import type { SetupResult } from '../results.ts';
import { setInDotenv } from './dotenv.ts';
import { fitted } from './fitted-text.ts';
import { createAsk } from './question.ts';
import { STARTER, setUpStarterSet } from './starter.ts';

/** Time after which the process ends in spite of timers that a step's library left running. */
const LINGER_MS = 500;

type NamedStep = {
  readonly name: string;
  readonly args: readonly string[];
  /** False where the assistant itself asks: it cannot restart before its own command has ended. */
  readonly restart: boolean;
};

/**
 * Runs a step of `src/setup/` by its name, and lets a running assistant use the new settings.
 *
 * @throws ClawError USAGE, SETUP_REFUSED with what the step said, INTERRUPTED
 */
export async function runSetupStep(
  invocation: Invocation,
  { name, args, restart }: NamedStep,
): Promise<SetupResult> {
  if (name === 'service') return await setUpService(invocation, args);
  if (name === STARTER.name) return await setUpStarterSet(invocation, restart);
  const steps = await discoverSetupSteps();
  const step = steps.find((candidate) => candidate.name === name);
  if (step === undefined) {
    const names = ['model', STARTER.name, ...steps.map((known) => known.name), 'service'].join(
      ', ',
    );
    const brought = join('skills', name, 'add/src/setup', `${name}.ts`);
    const hint =
      /^[a-z0-9-]+$/.test(name) && existsSync(join(invocation.root, brought))
        ? ` The skill ${name} brings it: add that first, by \`/add-${name}\` in the chat or \`npx claw apply ${name}\` here.`
        : '';
    throw new ClawError('USAGE', `There is no set-up "${name}". There are: ${names}.${hint}`);
  }
  try {
    const { summary, data, needsRestart = true } = await runStep(invocation, step, args);
    const rest = restart && needsRestart ? restartedText(await restartRunning(invocation)) : '';
    return ended('setup', { summary: `${summary} ${rest}`.trim(), ...data });
  } finally {
    endSoon();
  }
}

/** Does the same as `claw service install`, under the name that the walk through everything shows. */
async function setUpService(
  { options: { yes } }: Invocation,
  args: readonly string[],
): Promise<SetupResult> {
  if (args.length > 0) {
    throw new ClawError(
      'USAGE',
      '`npx claw setup service` takes no options; `npx claw service install` does.',
    );
  }
  const { installOwnService } = await import('../system-service/service.ts');
  const { summary, data } = await installOwnService(yes === true);
  return ended('setup', { summary, ...data });
}

/** @throws ClawError USAGE, SETUP_REFUSED with what the step said, INTERRUPTED */
export async function runStep(
  { root, signal }: Invocation,
  step: SetupStep,
  args: readonly string[],
): Promise<SetupOutcome> {
  const environment = environmentOf(root);
  const isInteractive = process.stderr.isTTY === true;
  const say = (text: string): void => void process.stderr.write(`${fitted(text)}\n`);
  try {
    return await step.run(environment, {
      dataDir: dataDirOf(environment, root),
      args,
      isInteractive,
      rows: isInteractive ? process.stderr.rows : undefined,
      say,
      ask: createAsk(signal),
      write: (values) => setInDotenv(join(root, '.env'), values),
      signal,
    });
  } catch (error) {
    if (!(error instanceof SetupRefused)) throw error;
    const detail = { cause: error };
    if (error.isWrongUse) throw new ClawError('USAGE', error.message, detail);
    if (signal.aborted) throw new ClawError('INTERRUPTED', error.message, detail);
    throw new CliError('SETUP_REFUSED', error.message, detail);
  }
}

/** Ends the process when it has printed its result, whatever a step has left running. */
export function endSoon(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
