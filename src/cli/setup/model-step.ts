import { restartedText, restartRunning } from '../assistant/restart.ts';
import { type CliResult, ended } from '../result.ts';
import type { Invocation } from '../verb.ts';
import { type SetupOptions, setUpModel } from './setup.ts';

/** Sets the model up, and lets a running assistant take it up. @throws ClawError as `setUpModel` */
export async function setUpModelAlone(
  invocation: Invocation,
  options: SetupOptions,
  restart: boolean,
): Promise<CliResult<'setup'>> {
  const { text, ...model } = await setUpModel(invocation, options);
  const rest = restart ? restartedText(await restartRunning(invocation)) : '';
  const summary = `The model answers; ${text}. ${rest}`.trim();
  return ended('setup', { ...model, summary });
}
