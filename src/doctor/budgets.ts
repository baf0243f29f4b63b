import { hasPrice } from '../model/price.ts';
import { type Examination, well } from './examination.ts';

const AREA = 'budgets';

/** Whether what the model costs is known: without it no limit of money holds. */
export const examination: Examination = {
  area: AREA,
  order: 25,
  async examine({ settings }) {
    if (settings === null) return [];
    const { model, budget } = settings;
    if (hasPrice(settings)) return [well(AREA, 'what the model costs is known')];
    const message = `the price of ${model.provider}/${model.model} is not known`;
    if (budget.tokens !== null) return [well(AREA, `${message}; the limit of tokens holds`)];
    const advice =
      'No limit of money holds. Set MODEL_PRICE in .env, such as 3/15, or BUDGET_TOKENS.';
    return [well(AREA, message, advice)];
  },
};
