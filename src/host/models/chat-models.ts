import type { Price } from '../../config.ts';
import type { Catalog } from '../../model/catalog/catalog.ts';
import { completeOnce } from '../../model/completion.ts';
import type { LeftOutTool } from '../../model/fit/fitted-request.ts';
import type { HostModels } from '../../model/model.ts';
import type { RoutedTurn } from '../../model/router.ts';
import type { ChooseModels } from '../../model/routing.ts';
import type { StorePort } from '../contracts/ports.ts';

/** The model of a chat, and who has named it: the owner for this chat or for all, or the settings. */
export type ChatModel = { readonly name: string; readonly from: 'chat' | 'all' | 'settings' };

/** Facts about a model, for people. */
export type ModelNumbers = {
  readonly contextTokens: number;
  /** Null where it is not known. */
  readonly price: Price | null;
  /** The day of the price; null where the owner or the model's server has told it. */
  readonly pricesAsOf: string | null;
};

/** The models of the chats: which each has, and which there are. */
export interface ChatModels extends Catalog {
  /** Returns the model of a folder's chats; with null, of those that have none of their own. */
  of(folder: string | null): ChatModel;
  /** Returns the models that would answer a message in a chat now, best first; none where none can be asked. */
  inTurn(group: RoutedTurn['group']): Promise<readonly string[]>;
  /** Returns tools that a model was not offered the last time, each with the end of a sentence about why. */
  leftOutTools(name: string): readonly LeftOutTool[];
  /** Chooses a model for a folder's chats, or with null for all; without a name the choice is taken back. */
  choose(folder: string | null, name: string | null): void;
  /** Returns what is known of a model; null where no provider here has it. */
  numbersOf(name: string): ModelNumbers | null;
  /** Asks a model for one word. @returns one sentence about why it cannot answer; null where it can */
  tryOut(name: string): Promise<string | null>;
}

export type ChatModelsOptions = StorePort & {
  readonly models: HostModels;
  readonly catalog: Catalog;
  readonly chooseModels: ChooseModels;
};

/** The owner waits for it in a chat. */
const TRY_MS = 15_000;
const SMALL_CALL = { inputTokens: 1, outputTokens: 1, cacheWriteTokens: 0, cacheReadTokens: 0 };

/** Opens the owner's choices. The store keeps them, with what was known of each model. */
export function openChatModels(options: ChatModelsOptions): ChatModels {
  const { store, models, catalog, chooseModels } = options;
  const { modelChoices } = store;
  for (const folder of [null, ...store.groups.all().map((group) => group.folder)]) {
    const choice = modelChoices.of(folder);
    if (choice !== null) models.learn([{ ...choice, id: choice.name }]);
  }

  function numbersOf(name: string): ModelNumbers | null {
    const model = models.find(name);
    if (model === null) return null;
    const { contextTokens, pricesAsOf } = model;
    return { contextTokens, price: model.priceOf(SMALL_CALL), pricesAsOf };
  }

  return {
    ...catalog,
    numbersOf,
    of(folder) {
      const own = folder === null ? null : modelChoices.of(folder);
      if (own !== null) return { name: own.name, from: 'chat' };
      const all = modelChoices.of(null);
      if (all !== null) return { name: all.name, from: 'all' };
      return { name: models.configuredName, from: 'settings' };
    },
    async inTurn({ name, folder, isMain }) {
      const turn = { group: { name, folder, isMain }, isTask: false, taskType: 'chat', prompt: '' };
      const route = await chooseModels(turn);
      return route.kind === 'none' ? [] : route.models.map(({ id }) => id);
    },
    leftOutTools: (name) => models.find(name)?.quirks.leftOutTools ?? [],
    choose(folder, name) {
      const numbers = name === null ? null : numbersOf(name);
      if (name === null || numbers === null) return modelChoices.set(folder, null);
      const { contextTokens, price } = numbers;
      modelChoices.set(folder, { name, contextTokens, price });
    },
    async tryOut(name) {
      const model = models.find(name);
      if (model === null) return 'No provider here has it.';
      const tried = await completeOnce(model, TRY_MS);
      return tried.ok ? null : tried.message;
    },
  };
}
