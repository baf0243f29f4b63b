import { ClawError, ended, type Invocation } from '@patchclaw/claw/cli';
import { restartedText, restartRunning } from '../assistant/restart.ts';
import type { SetupResult } from '../results.ts';
import { fittedQuestion } from './fitted-text.ts';
import { hasModel } from './model.ts';
import { type SetupOptions, setUpModel } from './setup.ts';

/** Sets the model up, and lets a running assistant take it up. @throws ClawError as `setUpModel` */
export async function setUpModelAlone(
  invocation: Invocation,
  options: SetupOptions,
  restart: boolean,
): Promise<SetupResult> {
  const { text, ...model } = await setUpModel(invocation, options);
  const rest = restart ? restartedText(await restartRunning(invocation)) : '';
  const summary = `The model answers; ${text}. ${rest}`.trim();
  return ended('setup', { ...model, summary });
}

/**
 * Does the same on a terminal if no model is set up yet. An owner who leaves it has only put it off.
 *
 * @throws ClawError as `setUpModel`, except INTERRUPTED
 */
export async function setUpFirstModel(
  invocation: Invocation,
  restart: boolean,
): Promise<SetupResult> {
  if (await hasModel(invocation.root)) {
    return ended('setup', { summary: 'A model is set up.' }, 'nothing');
  }
  const { intro, outro, S_BAR } = await import('@patchclaw/claw/prompts');
  intro(fittedQuestion(WELCOME, S_BAR), { output: process.stderr });
  try {
    return await setUpModelAlone(invocation, {}, restart);
  } catch (error) {
    if (!(error instanceof ClawError && error.code === 'INTERRUPTED')) throw error;
    // `start` shows what goes to stderr only.
    outro(fittedQuestion(LATER, ' '), { output: process.stderr });
    return ended('setup', { summary: LATER }, 'nothing');
  }
}

const WELCOME =
  'Welcome to Patchclaw. Connect a language model, and the chat begins. You need an API key of a service, or a server of your own. With neither, press Ctrl-C: the chat starts without a model.';
const LATER = 'No model is connected yet. `npx claw setup` connects one later.';
