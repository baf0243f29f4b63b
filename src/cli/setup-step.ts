import { ClawError, type VerbResult } from '../engine/index.ts';
import { discoverSetupSteps, isSetupRefused, type SetupOutcome } from '../setup/step.ts';
import type { Invocation } from './main.ts';
import { environmentOf, settingsOf } from './settings.ts';

/** A library that a step used may leave timers behind, which nobody waits for. */
const LINGER_MS = 500;

/**
 * Runs a step of `src/setup/`.
 *
 * @throws ClawError USAGE, SETUP_REFUSED with what the step said, INTERRUPTED
 */
export async function runSetupStep(
  { root, signal }: Invocation,
  name: string,
  args: readonly string[],
): Promise<VerbResult> {
  const steps = await discoverSetupSteps();
  const step = steps.find((candidate) => candidate.name === name);
  if (step === undefined) {
    const names = ['model', ...steps.map((known) => known.name)].join(', ');
    throw new ClawError('USAGE', `There is no set-up "${name}". There are: ${names}.`);
  }
  const settings = settingsOf(environmentOf(root), root);
  const isInteractive = process.stderr.isTTY === true;
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  try {
    return resultOf(await step.run({ settings, args, isInteractive, say, signal }));
  } catch (error) {
    if (!isSetupRefused(error)) throw error;
    const code = error.isWrongUse ? 'USAGE' : signal.aborted ? 'INTERRUPTED' : 'SETUP_REFUSED';
    throw new ClawError(code, error.message, { cause: error });
  } finally {
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}

function resultOf({ summary, data }: SetupOutcome): VerbResult {
  return {
    verb: 'setup',
    outcome: 'done',
    data: { summary, ...data },
    changes: [],
    conflicts: [],
    warnings: [],
    error: null,
  };
}
