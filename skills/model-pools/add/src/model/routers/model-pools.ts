import { NotUsable } from '../../lib/contribution.ts';
import { type PoolModel, PoolSettings, poolFor, unknownPools } from '../../lib/model-pools.ts';
import { type ChosenModel, defineRouter, type Routed, type RoutedTurn } from '../router.ts';
import { watchProxy } from './model-pools/proxy-watch.ts';

/** Names the models of the pool for the kind of work, best first. */
export const router = defineRouter({
  name: 'model-pools',
  order: 50,
  settings: PoolSettings,
  needs: ['MODEL_POOLS'],
  create({ settings, chosenFor, now }) {
    if (settings.MODEL_POOLS.length === 0) return null;
    const [unknown] = unknownPools(settings);
    if (unknown !== undefined) {
      throw new NotUsable(`The pool ${unknown} is named in .env and is not in MODEL_POOLS.`);
    }
    const { MODEL_POOL_TYPE_HEADER: withHeader, MODEL_PROXY: proxyPrefix } = settings;
    const proxy = watchProxy(proxyPrefix ?? null, now);

    /** A model that the owner has chosen and no pool holds is meant alone, for all work of its chat. */
    function modelsFor({
      group: { folder },
      taskType,
      pool: asked,
    }: RoutedTurn): readonly PoolModel[] | null {
      const chosen = chosenFor(folder);
      const pool = poolFor(settings, taskType, asked);
      if (pool === null || chosen === null) return pool?.models ?? null;
      const home = settings.MODEL_POOLS.find(({ models }) =>
        models.some(({ name }) => name === chosen),
      );
      if (home === undefined) return pool.name === asked ? pool.models : null;
      const isNamed = pool.name === asked || Object.hasOwn(settings.MODEL_POOL_FOR, taskType);
      const own = isNamed ? pool : home;
      return own.models.toSorted(
        (one, other) => Number(other.name === chosen) - Number(one.name === chosen),
      );
    }

    function asked(model: PoolModel, headers: Record<string, string> | null): ChosenModel {
      return {
        ...model,
        ...(headers && { headers }),
        ...(proxyPrefix !== undefined &&
          !proxy.leadsTo(model.name) && { isTextOnly: () => proxy.isDown() }),
      };
    }

    return (turn): Routed | null => {
      const { taskType } = turn;
      const { folder } = turn.group;
      // Nobody waits for the others, and what they say may be read by a program.
      const tells = taskType === 'chat';
      const models = modelsFor(turn);
      if (models === null) return null;
      const pool = poolFor(settings, taskType, turn.pool)?.name ?? '';
      const hasHeader = withHeader.includes('*') || withHeader.includes(pool);
      const headers = hasHeader ? { 'x-task-type': taskType } : null;
      const usable = proxy.usable(models, { isSummary: taskType === 'summary' });
      return {
        models: usable.map((model) => asked(model, headers)),
        notice: tells ? proxy.noticeFor(folder, usable) : null,
        onPassedOver: (name, failure) =>
          proxy.failed(name, failure) && tells ? proxy.noticeFor(folder, models) : null,
        onAnswer: proxy.answered,
      };
    };
  },
});
