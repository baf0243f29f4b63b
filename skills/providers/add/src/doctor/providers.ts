import { askForList } from '../model/catalog/ask-for-list.ts';
import { openModels } from '../model/model.ts';
import { discoverProviders } from '../model/provider.ts';
import { type Examination, type Finding, ok, problem } from './examination.ts';

const AREA = 'providers';
/** Those of the core have their own area, with the model of the settings. */
const CORE = ['anthropic', 'openai'];

/** Asks each provider that is set up for its models: whether the address answers and the key is taken. */
export const examination: Examination = {
  area: AREA,
  order: 21,
  async examine({ settings, environment, isOffline, now }) {
    if (settings === null) return [];
    const { providers } = openModels(await discoverProviders(), environment, { settings, now });
    const others = providers.filter(({ provider }) => !CORE.includes(provider.name));
    const set = others.filter(({ server }) => server.isSetUp?.() !== false);
    if (set.length === 0) {
      const names = others.map(({ provider }) => provider.name).join(', ');
      const advice = '`npx claw setup --provider <name>` sets one up.';
      return [ok(AREA, `none of ${names} is set up yet`, advice)];
    }
    return await Promise.all(
      set.map(async ({ provider, server }): Promise<Finding> => {
        const { name } = provider;
        const again = `\`npx claw setup --provider ${name}\` sets it again.`;
        const lacks = server.problem();
        if (lacks !== null) return problem(AREA, lacks, again);
        if (isOffline) return ok(AREA, `${name} is set up, not asked`);
        const list = await askForList(provider, server);
        if (list.kind === 'listed') {
          return ok(AREA, `${name} answers and has ${list.models.length} models`);
        }
        return list.isUnknown
          ? ok(AREA, `${name} answers; it has no list of models`)
          : problem(AREA, `${name}: ${list.message}`, again);
      }),
    );
  },
};
