import { PoolSettings } from '../lib/model-pools.ts';
import { PipelineSettings } from '../lib/pipeline/settings.ts';
import { defineSetup } from './step.ts';

export const setup = defineSetup({
  name: 'pipeline',
  help: 'what a good answer is worth to you, so that models are chosen by their answers and cost',
  settings: PipelineSettings.extend(PoolSettings.shape),
  currentState: ({ settings: { PIPELINE_LEARNING: learning, PIPELINE_ANSWER_USD: worth } }) =>
    learning === 'off' ? 'learning is off' : `a good answer counts $${worth.toFixed(2)}`,
  async run({ ask, say, write, settings }) {
    say(
      'A model whose answers are as good and cost less is asked first. Reactions tell how good they are.',
    );
    const typed = await ask({
      message: 'What is a good answer worth to you, in dollars?',
      proposed: String(settings.PIPELINE_ANSWER_USD),
      check(text) {
        const read = PipelineSettings.shape.PIPELINE_ANSWER_USD.safeParse(text);
        return read.success ? null : 'Type dollars, such as 0.50.';
      },
    });
    write({ PIPELINE_ANSWER_USD: typed, PIPELINE_LEARNING: 'on' });
    const canChoose = settings.MODEL_POOLS.some(({ models }) => models.length > 1);
    const lacks = canChoose
      ? ''
      : ' No pool has two models yet: `npx claw setup model-pools` names some.';
    return {
      summary: `A good answer counts $${Number(typed).toFixed(2)}. Rate answers by 👍 and 👎, or /good and /bad.${lacks}`,
      data: { answerUsd: Number(typed), canChoose },
    };
  },
});
