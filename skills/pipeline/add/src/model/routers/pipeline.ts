import { RouteReply, type RouteRequest } from '../../lib/pipeline/calls.ts';
import { type ChosenModel, defineRouter, type Routed, type RoutedTurn } from '../router.ts';

/** Kinds of work that people see and can rate. */
const RATED = ['chat', 'task'];

/** Has the pipeline order the models that the routers after this one name. */
export const router = defineRouter({
  name: 'pipeline',
  order: 40,
  create({ chosenFor, find, log }) {
    function requestOf(turn: RoutedTurn, models: readonly ChosenModel[]): RouteRequest {
      const { prompt, isTask, hasPictures = false, group } = turn;
      const facts = models.map(({ name }) => {
        const abilities = find(name)?.abilities;
        return {
          name,
          seesPictures: abilities?.vision === true,
          hasTools: abilities?.tools === true,
        };
      });
      const isChosen = chosenFor(group.folder) !== null;
      return { kind: 'route', prompt, isTask, hasPictures, isChosen, models: facts };
    }

    return async (turn, { next, callService }): Promise<Routed> => {
      const routed = await next();
      const isRun = turn.id !== undefined && RATED.includes(turn.taskType);
      if (!isRun || routed.models.length === 0) return routed;
      const models = routed.models.map((one) => (typeof one === 'string' ? { name: one } : one));
      try {
        const reply = RouteReply.parse(await callService('pipeline', requestOf(turn, models)));
        return { ...routed, models: inOrder(models, reply) };
      } catch (error) {
        // What the other routers have said holds, and they are not asked twice.
        log.warn('the pipeline was not asked, the order of the pool holds', {
          error: String(error),
        });
        return routed;
      }
    };
  },
});

/** Returns the models in the order of the reply. None is lost, and a limit of the pool's is only made smaller. */
function inOrder(models: readonly ChosenModel[], reply: RouteReply): readonly ChosenModel[] {
  const first = reply.flatMap(({ name, contextTokens, maxTokens, headers }) => {
    const model = models.find((one) => one.name === name);
    if (model === undefined) return [];
    return [
      {
        ...model,
        ...smaller('contextTokens', model.contextTokens, contextTokens),
        ...smaller('maxTokens', model.maxTokens, maxTokens),
        ...(headers && { headers: { ...model.headers, ...headers } }),
      },
    ];
  });
  const rest = models.filter(({ name }) => !reply.some((one) => one.name === name));
  return [...first, ...rest];
}

function smaller(key: 'contextTokens' | 'maxTokens', one?: number, other?: number) {
  const limit = Math.min(one ?? Number.POSITIVE_INFINITY, other ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(limit) ? { [key]: limit } : {};
}
