import type { EmbedForGroup } from '../../lib/embed.ts';
import { type FindEmbedding, openEmbedders } from '../../model/embedder.ts';
import { embeddingModel, embedHere, embedTexts, tokensOf } from '../../model/embeddings.ts';
import type { Models } from '../../model/model.ts';
import type { Budgets } from '../budget/budgets.ts';

/**
 * Opens the way of services to embeddings: key and address are the provider's, and the group's budget pays. A model on
 * this machine costs nothing.
 */
export function openEmbedding({
  models,
  budgets,
  findLocal = openEmbedders(),
}: {
  readonly models: Pick<Models, 'find'>;
  readonly budgets: Pick<Budgets, 'admit'>;
  readonly findLocal?: FindEmbedding;
}): EmbedForGroup {
  return async ({ model: name, folder, texts, timeoutMs, signal }) => {
    const local = await findLocal(name);
    if (local !== null) {
      return await embedHere(local, { texts, timeoutMs, ...(signal && { signal }) });
    }
    const model = embeddingModel(models, name);
    if ('kind' in model) return model;
    // A token is a byte at least.
    const atMost = tokensOf(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
    const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    const admission = await budgets.admit(folder, { model, atMost }, limit);
    if (admission.kind === 'refused') {
      return { kind: 'failed', message: admission.message, isRefused: false };
    }
    const result = await embedTexts(model, { texts, timeoutMs, ...(signal && { signal }) });
    admission.charge(result.kind === 'embedded' ? result.counts : null);
    return result.kind === 'embedded' ? { kind: 'embedded', vectors: result.vectors } : result;
  };
}
