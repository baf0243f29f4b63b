import { readSettings, type Settings, SettingsError } from '../../config.ts';
import { ClawError, type ModelPrompt, type ModelReply } from '../../engine/commands.ts';
import { readEnvFile } from '../../env-file.ts';
import { completeText } from '../../model/completion.ts';

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
  const { model, turnTimeoutMs } = settingsOf(root);
  const timeoutMs = Math.min(turnTimeoutMs, ANSWER_TIMEOUT_MS);
  const answer = await completeText(model, prompt, { timeoutMs, signal });
  if (!answer.ok) throw new ClawError('MODEL_REFUSED', `${answer.message} Nothing was decided.`);
  return { text: answer.text, model: `${model.provider}/${model.model}` };
}

/** Whether a model has what it takes to be asked. */
export function hasModel(root: string): boolean {
  try {
    const { model } = settingsOf(root);
    return model.apiKey !== null || model.provider === 'openai';
  } catch (error) {
    if (error instanceof ClawError) return false;
    throw error;
  }
}

function settingsOf(root: string): Settings {
  try {
    return readSettings({ ...readEnvFile(root), ...process.env }, root);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new ClawError('MODEL_REFUSED', `${error.message}. Nothing was decided.`, {
      cause: error,
    });
  }
}
