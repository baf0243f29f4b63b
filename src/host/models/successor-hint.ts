import type { ModelFailure } from '../../model/failure.ts';
import type { ChatModels } from './chat-models.ts';

/** Returns a sentence on what to take in place of a model that its server does not know; empty for nothing. */
export async function successorHint(
  models: Pick<ChatModels, 'look'>,
  { reason, model }: Pick<ModelFailure, 'reason' | 'model'>,
): Promise<string> {
  if (reason !== 'unknown-model' || model === undefined) return '';
  const found = await models.look(model, 'now');
  return found.kind === 'missing' && found.nearest !== null
    ? ` Its nearest successor there is \`${found.nearest}\`: the owner chooses it by \`/model ${found.nearest}\`.`
    : ' The owner chooses another by `/model`.';
}
