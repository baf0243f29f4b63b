import { defineStage } from '../stage.ts';

/** Scores by what people have said of the answer, all alike. An answer that nobody rated has no score. */
export const stage = defineStage({
  name: 'feedback',
  stage: 'score',
  run({ signals }) {
    if (signals.length === 0) return null;
    const sum = signals.reduce((total, { value }) => total + value, 0);
    return (sum / signals.length + 1) / 2;
  },
});
