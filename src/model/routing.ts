import { openContributions, type SilentContribution } from '../lib/contribution.ts';
import type { Environment } from '../lib/settings.ts';
import type { Candidates } from './candidates.ts';
import type { Catalog } from './catalog/catalog.ts';
import { hasPrice } from './metering/price.ts';
import type { Model, Models } from './model.ts';
import type {
  ChosenModel,
  ModelLog,
  Routed,
  RoutedTurn,
  RouterCall,
  RouterContribution,
} from './router.ts';

/** The models that may answer a turn, best first; or why none can. */
export type Route =
  | ({ readonly kind: 'models'; readonly models: Candidates } & Pick<
      Routed,
      'notice' | 'onPassedOver' | 'onAnswer'
    >)
  | { readonly kind: 'none'; readonly message: string };

/** Chooses the models of a turn. Never rejects. Without a way to the services, routers choose without them. */
export type ChooseModels = (
  turn: RoutedTurn,
  callService?: RouterCall['callService'],
) => Promise<Route>;

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
 * A model is left out where no provider here has it, and where it cannot be asked now. The log says so once while
 * another answers.
 */
export function openRouting(
  definitions: readonly RouterContribution[],
  environment: Environment,
  { models, log, now, chosenFor = () => null, catalog }: Parts,
): { readonly chooseModels: ChooseModels; readonly silent: readonly SilentContribution[] } {
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

  async function routedFor(
    turn: RoutedTurn,
    callService: RouterCall['callService'],
    from = 0,
  ): Promise<Routed> {
    for (const [at, { name, value: route }] of made.entries()) {
      if (at < from) continue;
      const next = () => routedFor(turn, callService, at + 1);
      try {
        const answer = await route(turn, { next, callService });
        const routed = isNames(answer) ? { models: answer } : answer;
        if (routed !== null && routed.models.length > 0) return routed;
      } catch (error) {
        log.warn('a router failed, the next one chooses', { router: name, error: String(error) });
      }
    }
    return { models: [] };
  }

  /** Log lines about models that were left out, until they can be asked again. */
  const said = new Map<string, string>();

  async function usable(name: string): Promise<Model | string> {
    const model = models.find(name);
    if (model === null) return 'no provider here has it';
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
    async chooseModels(asked, callService = noServices) {
      const { id, jid, isTask, taskType, pool, prompt, hasPictures } = asked;
      const { name, folder, isMain } = asked.group;
      const chosen: Model[] = [];
      const left: { readonly name: string; readonly problem: string }[] = [];
      const group = { name, folder, isMain };
      const turn = { id, jid, group, isTask, taskType, pool, prompt, hasPictures };
      const routed = await routedFor(turn, callService);
      const { models: wanted, notice = null, onPassedOver, onAnswer } = routed;
      const byName = new Map(wanted.map((one) => [nameOf(one), one]));
      for (const [wantedName, one] of byName) {
        const model = await usable(wantedName);
        if (typeof model !== 'string') {
          said.delete(wantedName);
          chosen.push(typeof one === 'string' ? model : chosenModel(model, one));
          continue;
        }
        left.push({ name: wantedName, problem: model });
      }
      const [first, ...others] = chosen;
      if (first !== undefined) {
        // Where none is left, the chat itself is told why.
        for (const { name: model, problem } of left) {
          if (said.get(model) === problem) continue;
          said.set(model, problem);
          log.warn('a model that was chosen is left out', { model, problem });
        }
        return {
          kind: 'models',
          models: [first, ...others],
          notice,
          ...(onPassedOver && { onPassedOver }),
          ...(onAnswer && { onAnswer }),
        };
      }
      return { kind: 'none', message: refusalOf(left) };
    },
  };
}

async function noServices(service: string): Promise<never> {
  throw new Error(`The service ${service} cannot be called here.`);
}

function isNames(answer: readonly string[] | Routed | null): answer is readonly string[] {
  return Array.isArray(answer);
}

function nameOf(one: string | ChosenModel): string {
  return typeof one === 'string' ? one : one.name;
}

/** Returns the model as a router wants it asked. */
function chosenModel(model: Model, chosen: ChosenModel): Model {
  const { headers, isTextOnly, contextTokens, maxTokens } = chosen;
  const { server, abilities } = model;
  return {
    ...model,
    contextTokens: contextTokens ?? model.contextTokens,
    get abilities() {
      return isTextOnly?.() === true ? { ...abilities, tools: false } : abilities;
    },
    adapt: (request) => model.adapt(maxTokens === undefined ? request : capped(request, maxTokens)),
    server:
      headers === undefined
        ? server
        : { ...server, headers: async () => ({ ...(await server.headers()), ...headers }) },
  };
}

/** Returns the request with a limit of its answer, by the name that it uses already. */
function capped(request: Readonly<Record<string, unknown>>, most: number) {
  const name = 'max_completion_tokens' in request ? 'max_completion_tokens' : 'max_tokens';
  const asked = request[name];
  return { ...request, [name]: typeof asked === 'number' ? Math.min(asked, most) : most };
}
