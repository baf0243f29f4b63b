import { defineStage, type Evidence, type Scored } from '../stage.ts';

/**
 * Counts turns, scores and cost of each model; the scores of turns that people rated apart from those of the others. All
 * turns that are kept count alike.
 */
export const stage = defineStage({
  name: 'counts',
  stage: 'learn',
  run(turns) {
    const byModel = Map.groupBy(turns, ({ trajectory }) => trajectory.model);
    return [...byModel].map(([model, own]): Evidence => {
      const isRated = ({ trajectory }: Scored) => trajectory.signals.length > 0;
      const rewards = own.filter(isRated).flatMap(({ reward }) => reward ?? []);
      const checks = own.filter((one) => !isRated(one)).flatMap(({ reward }) => reward ?? []);
      const costs = own.flatMap(({ trajectory }) => trajectory.costUsd ?? []);
      const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
      return {
        model,
        turns: own.length,
        rated: rewards.length,
        good: sum(rewards),
        ...(checks.length === 0 ? {} : { checked: checks.length, passed: sum(checks) }),
        costUsd: costs.length === 0 ? null : sum(costs) / costs.length,
      };
    });
  },
});
