import { ClawError, type ModelPrompt, type ModelReply } from '@patchclaw/claw/cli';
import { readSettings, type Settings, SettingsError } from '../../config.ts';
import { completeText } from '../../model/completion.ts';
import { type Environment, environmentOf } from '../environment.ts';
import { modelsIn } from './settings.ts';

/** One answer takes less time than a turn of an agent may. */
const ANSWER_TIMEOUT_MS = 600_000;

/**
 * Asks the owner's model, as `.env` and the environment name it at that moment.
 *
 * @throws ClawError MODEL_REFUSED, in a sentence, where no answer comes
 */
export async function askModel(
  prompt: ModelPrompt,
  { root, signal }: { readonly root: string; readonly signal: AbortSignal },
): Promise<ModelReply> {
  const environment = environmentOf(root);
  const settings = settingsOf(environment, root);
  const { configured: model, problem } = await modelsIn(environment, settings);
  if (model === null) throw new ClawError('MODEL_REFUSED', `${problem()} Nothing was decided.`);
  const { turnTimeoutMs } = settings;
  const timeoutMs = Math.min(turnTimeoutMs, ANSWER_TIMEOUT_MS);
  const answer = await completeText(model, prompt, { timeoutMs, signal });
  if (!answer.ok) throw new ClawError('MODEL_REFUSED', `${answer.message} Nothing was decided.`);
  return { text: answer.text, model: model.id };
}

/** Tells whether the settings of a model are complete. */
export async function hasModel(root: string): Promise<boolean> {
  try {
    const environment = environmentOf(root);
    const models = await modelsIn(environment, settingsOf(environment, root));
    return models.problem() === null;
  } catch (error) {
    if (error instanceof ClawError) return false;
    throw error;
  }
}

function settingsOf(environment: Environment, root: string): Settings {
  try {
    return readSettings(environment, root);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new ClawError('MODEL_REFUSED', `${error.message}. Nothing was decided.`, {
      cause: error,
    });
  }
}
