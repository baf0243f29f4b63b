import type { VerbResult } from '../../engine/commands.ts';
import { restartedText, restartRunning } from '../assistant/restart.ts';
import type { Invocation } from '../main.ts';
import { type SetupOptions, setUpModel } from './setup.ts';

/** Sets the model up, and lets a running assistant take it up. @throws ClawError as `setUpModel` */
export async function setUpModelAlone(
  invocation: Invocation,
  options: SetupOptions,
  restart: boolean,
): Promise<VerbResult> {
  const result = await setUpModel(invocation, options);
  const rest = restart ? restartedText(await restartRunning(invocation)) : '';
  const summary = `The model answers; .env holds the key. ${rest}`.trim();
  return { ...result, data: { ...asObject(result.data), summary } };
}

function asObject(data: unknown): object {
  return typeof data === 'object' && data !== null ? data : {};
}
