import type { ModelFailure } from '../../model/failure.ts';
import type { ChatModels } from './chat-models.ts';

/** Models that gave no answer while another answered in their place. */
export interface ModelTroubles {
  /** Notes a failure. Returns true for the first of its kind since the model answered. */
  note(model: string, failure: ModelFailure): boolean;
  /** Returns a line for a chat about a model that its server does not know any more, once for each chat; else null. */
  lineAboutGone(folder: string, model: string, failure: ModelFailure): Promise<string | null>;
  /** Notes that a model's server cut a prompt. Returns true for the first time. */
  noteCut(model: string): boolean;
  /** Notes that a model answers. */
  forget(model: string): void;
}

/** Remembers them as long as the assistant runs. */
export function openModelTroubles(models: Pick<ChatModels, 'look'>): ModelTroubles {
  const noted = new Map<string, { readonly kind: string; readonly toldIn: Set<string> }>();
  const cut = new Set<string>();
  return {
    noteCut(model) {
      const isFirst = !cut.has(model);
      cut.add(model);
      return isFirst;
    },
    note(model, { reason, message }) {
      const kind = reason ?? message;
      const earlier = noted.get(model);
      if (earlier?.kind === kind) return false;
      noted.set(model, { kind, toldIn: new Set() });
      return true;
    },
    async lineAboutGone(folder, model, failure) {
      const { toldIn } = noted.get(model) ?? {};
      if (failure.reason !== 'unknown-model' || toldIn?.has(folder) !== false) return null;
      toldIn.add(folder);
      const hint = await successorHint(models, { ...failure, model });
      return `${failure.message} Another model answers in its place.${hint}`;
    },
    forget: (model) => void noted.delete(model),
  };
}

/** Returns a sentence that names a replacement for a model that its server does not know; empty if there is none. */
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
