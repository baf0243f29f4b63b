import { openModels } from '../../../src/model/model.ts';
import { discoverProviders } from '../../../src/model/provider.ts';
import { discoverRouters, type RoutedTurn } from '../../../src/model/router.ts';
import { openRouting } from '../../../src/model/routing.ts';

export const TURN: RoutedTurn = {
  group: { name: 'Family', folder: 'family', isMain: false },
  isTask: false,
  taskType: 'chat',
  prompt: 'hello',
};

export const POOLS =
  'smart=anthropic/opus, openai/large(context=64000 max=4000); cheap=openai/small, anthropic/haiku';
export const KEYS = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' };

/** Opens the routers of the tree with settings, a clock and the owner's choice. */
export async function routing(
  environment: Readonly<Record<string, string>>,
  chosen: string | null = null,
) {
  const clock = { now: 0 };
  const warnings: string[] = [];
  const all = { ...KEYS, MODEL_POOLS: POOLS, ...environment };
  const settings = { model: 'anthropic/of-the-settings', modelContext: null, modelPrice: null };
  const models = openModels(await discoverProviders(), all, { settings });
  const { chooseModels, silent } = openRouting(await discoverRouters(), all, {
    models,
    log: { warn: (message, data) => void warnings.push(`${message} ${JSON.stringify(data)}`) },
    now: () => clock.now,
    chosenFor: () => chosen,
  });
  async function route(over: Partial<RoutedTurn> = {}) {
    const found = await chooseModels({ ...TURN, ...over });
    if (found.kind === 'none') throw new Error(found.message);
    return found;
  }
  const names = async (over: Partial<RoutedTurn> = {}) =>
    (await route(over)).models.map(({ id }) => id);
  return { route, names, silent, clock, warnings };
}
