import { openContributions, type Silent } from '../lib/contribution.ts';
import type { Environment } from '../lib/settings.ts';
import type { Catalog } from './catalog.ts';
import type { Model, Models } from './model.ts';
import { hasPrice } from './price.ts';
import type { ModelLog, RoutedTurn, RouterContribution } from './router.ts';

/** The models that may answer a turn, best first, all of one protocol; or why none can. */
export type Route =
  | { readonly kind: 'models'; readonly models: readonly [Model, ...Model[]] }
  | { readonly kind: 'none'; readonly message: string };

/** Chooses the models of a turn. Never rejects. */
export type ChooseModels = (turn: RoutedTurn) => Promise<Route>;

type Parts = {
  readonly models: Models;
  readonly log: ModelLog;
  readonly now: () => number;
  /** The owner's choice for the chats of a folder; none by default. */
  readonly chosenFor?: ((folder: string) => string | null) | undefined;
  /** Asked for the price of a model that only its server's list tells. */
  readonly catalog?: Catalog | undefined;
};

/**
 * Opens the routers of this tree, in their order.
 *
 * A model is left out where no provider here has it, where it cannot be asked now, and where it does not
 * speak the protocol of the first: the agent has begun its request in that one. The log says so.
 */
export function openRouting(
  definitions: readonly RouterContribution[],
  environment: Environment,
  { models, log, now, chosenFor = () => null, catalog }: Parts,
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
  const { configuredName } = models;
  const contextOf = () => ({ configuredName, chosenFor, find, log, now });
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

  async function usable(name: string, first: Model | undefined): Promise<Model | string> {
    const model = models.find(name);
    if (model === null) return 'no provider here has it';
    if (first !== undefined && model.protocol.name !== first.protocol.name) {
      return `it does not speak the protocol of ${first.id}`;
    }
    const problem = model.server.problem();
    if (problem !== null) return problem;
    if (catalog === undefined || !model.listsPrices || hasPrice(model)) return model;
    // A budget in money holds from the first call on.
    await catalog.look(name);
    return models.find(name) ?? model;
  }

  /** Returns why no model can be asked. */
  function refusalOf(left: readonly { readonly name: string; readonly problem: string }[]): string {
    const [first] = left;
    if (first === undefined || left.every(({ name }) => name === configuredName)) {
      return models.problem() ?? 'None of the chosen models can be asked.';
    }
    const why = first.problem.replace(/\.?$/, '.');
    return `The model ${first.name} cannot be asked: ${why} \`/model\` chooses another.`;
  }

  return {
    silent,
    async chooseModels({ group: { name, folder, isMain }, isTask, taskType, prompt }) {
      const chosen: Model[] = [];
      const left: { readonly name: string; readonly problem: string }[] = [];
      const names = await namesFor({ group: { name, folder, isMain }, isTask, taskType, prompt });
      for (const one of new Set(names)) {
        const model = await usable(one, chosen[0]);
        if (typeof model !== 'string') {
          chosen.push(model);
          continue;
        }
        log.warn('a model that was chosen is left out', { model: one, problem: model });
        left.push({ name: one, problem: model });
      }
      const [first, ...others] = chosen;
      if (first !== undefined) return { kind: 'models', models: [first, ...others] };
      return { kind: 'none', message: refusalOf(left) };
    },
  };
}
