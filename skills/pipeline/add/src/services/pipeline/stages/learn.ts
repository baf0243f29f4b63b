import { defineStage, type Evidence } from '../stage.ts';

/** Counts turns, scores and cost of each model. All turns that are kept count alike. */
export const stage = defineStage({
  name: 'counts',
  stage: 'learn',
  run(turns) {
    const byModel = Map.groupBy(turns, ({ trajectory }) => trajectory.model);
    return [...byModel].map(([model, own]): Evidence => {
      const rewards = own.flatMap(({ reward }) => reward ?? []);
      const costs = own.flatMap(({ trajectory }) => trajectory.costUsd ?? []);
      const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
      return {
        model,
        turns: own.length,
        rated: rewards.length,
        good: sum(rewards),
        costUsd: costs.length === 0 ? null : sum(costs) / costs.length,
      };
    });
  },
});
