import { defineStage } from '../stage.ts';

/**
 * Scores by what people have said of the answer, all alike. Where nobody said anything, the score is the mean of what can
 * be checked: whether the answer has the shape that was asked for, and the share of tool calls that did not fail. Where
 * neither is there, it has no score.
 */
export const stage = defineStage({
  name: 'feedback-and-checks',
  stage: 'score',
  run({ signals, fitsShape, toolCalls, toolFailures }) {
    if (signals.length === 0) {
      const checks = [
        ...(fitsShape === null ? [] : [Number(fitsShape)]),
        ...(toolCalls === 0 ? [] : [1 - toolFailures / toolCalls]),
      ];
      if (checks.length === 0) return null;
      return checks.reduce((total, one) => total + one, 0) / checks.length;
    }
    const sum = signals.reduce((total, { value }) => total + value, 0);
    return (sum / signals.length + 1) / 2;
  },
});
