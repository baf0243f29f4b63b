import { openContributions, type Silent } from '../lib/contribution.ts';
import type { Environment } from '../lib/settings.ts';
import type { Model, Models } from './model.ts';
import type { ModelLog, RoutedTurn, RouterContribution } from './router.ts';

/** The models that may answer a turn, best first, all of one protocol; or why none can. */
export type Route =
  | { readonly kind: 'models'; readonly models: readonly [Model, ...Model[]] }
  | { readonly kind: 'none'; readonly message: string };

/** Chooses the models of a turn. Never rejects. */
export type ChooseModels = (turn: RoutedTurn) => Promise<Route>;

type Parts = { readonly models: Models; readonly log: ModelLog; readonly now: () => number };

/**
 * Opens the routers of this tree, in their order.
 *
 * A model is left out where no provider here has it, where it cannot be asked now, and where it does not
 * speak the protocol of the first: the agent has begun its request in that one. The log says so.
 */
export function openRouting(
  definitions: readonly RouterContribution[],
  environment: Environment,
  { models, log, now }: Parts,
): { readonly chooseModels: ChooseModels; readonly silent: readonly Silent[] } {
  const inOrder = definitions.toSorted(
    (one, other) => one.order - other.order || (one.name < other.name ? -1 : 1),
  );
  const find = (name: string) => {
    const found = models.find(name);
    if (found === null) return null;
    const { id, contextTokens, abilities } = found;
    return { id, contextTokens, abilities };
  };
  const contextOf = () => ({ configuredName: models.configuredName, find, log, now });
  const { made, silent } = openContributions(inOrder, environment, contextOf);

  async function namesFor(turn: RoutedTurn): Promise<readonly string[]> {
    for (const { name, value: route } of made) {
      try {
        const names = await route(turn);
        if (names !== null && names.length > 0) return names;
      } catch (error) {
        log.warn('a router failed, the next one chooses', { router: name, error: String(error) });
      }
    }
    return [];
  }

  function usable(name: string, first: Model | undefined): Model | null {
    const model = models.find(name);
    const problem =
      model === null
        ? 'no provider here has it'
        : first !== undefined && model.protocol.name !== first.protocol.name
          ? `it does not speak the protocol of ${first.id}`
          : model.server.problem();
    if (problem === null) return model;
    log.warn('a model that was chosen is left out', { model: name, problem });
    return null;
  }

  return {
    silent,
    async chooseModels({ group: { name, folder, isMain }, isTask, prompt }) {
      const chosen: Model[] = [];
      const names = await namesFor({ group: { name, folder, isMain }, isTask, prompt });
      for (const one of new Set(names)) {
        const model = usable(one, chosen[0]);
        if (model !== null) chosen.push(model);
      }
      const [first, ...others] = chosen;
      if (first !== undefined) return { kind: 'models', models: [first, ...others] };
      return {
        kind: 'none',
        message: models.problem() ?? 'None of the chosen models can be asked.',
      };
    },
  };
}
