import { hasPrice } from '../model/metering/price.ts';
import { openModels } from '../model/model.ts';
import { discoverProviders } from '../model/provider.ts';
import { type Examination, ok } from './examination.ts';

const AREA = 'budgets';

/** Tells whether the model's price is known: without it no limit of money holds. */
export const examination: Examination = {
  area: AREA,
  order: 25,
  async examine({ settings, environment, now }) {
    if (settings === null) return [];
    const { budget } = settings;
    const models = openModels(await discoverProviders(), environment, { settings, now });
    const { configured, configuredName } = models;
    if (configured !== null && hasPrice(configured))
      return [ok(AREA, 'what the model costs is known')];
    const message = `the price of ${configuredName} is not known`;
    if (budget.tokens !== null) return [ok(AREA, `${message}; the limit of tokens holds`)];
    const advice =
      'No limit in money can be kept. Set MODEL_PRICE in .env, such as 3/15, or BUDGET_TOKENS.';
    return [ok(AREA, message, advice)];
  },
};
