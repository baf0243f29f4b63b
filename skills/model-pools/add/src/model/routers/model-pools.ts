import { NotUsable } from '../../lib/contribution.ts';
import { type PoolModel, PoolSettings, poolFor, unknownPools } from '../../lib/model-pools.ts';
import { type ChosenModel, defineRouter, type Routed, type RoutedTurn } from '../router.ts';
import { watchProxy } from './model-pools/proxy-watch.ts';

/** So many names are told of: they come from files that agents may write. */
const MOST_MISSED = 100;

/** Names the models of the pool for the kind of work, best first. */
export const router = defineRouter({
  name: 'model-pools',
  order: 50,
  settings: PoolSettings,
  needs: ['MODEL_POOLS'],
  create({ settings, chosenFor, now, log }) {
    if (settings.MODEL_POOLS.length === 0) return null;
    const [unknown] = unknownPools(settings);
    if (unknown !== undefined) {
      throw new NotUsable(`The pool ${unknown} is named in .env and is not in MODEL_POOLS.`);
    }
    const { MODEL_POOL_TYPE_HEADER: withHeader, MODEL_PROXY: proxyPrefix } = settings;
    const proxy = watchProxy(proxyPrefix ?? null, now);
    const missed = new Set<string>();

    /** A profile or a setting may name a pool that is gone: another one answers, perhaps a dearer one. */
    function noteMissing(name: string | undefined): void {
      if (name === undefined || missed.has(name) || missed.size >= MOST_MISSED) return;
      if (settings.MODEL_POOLS.some((pool) => pool.name === name)) return;
      missed.add(name);
      log.warn('a pool is asked for that is not in MODEL_POOLS, the usual one answers', {
        pool: name,
      });
    }

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
      noteMissing(turn.pool);
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
