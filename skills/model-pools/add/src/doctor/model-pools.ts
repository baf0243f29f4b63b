import { PoolSettings, poolFor, unknownPools } from '../lib/model-pools.ts';
import { openCatalog } from '../model/catalog/catalog.ts';
import { openModels } from '../model/model.ts';
import { discoverProviders } from '../model/provider.ts';
import { defineExamination, type Finding, ok, problem } from './examination.ts';

const AREA = 'model-pools';
const SET = '`npx claw setup model-pools` sets the pools.';

/** Looks at each model of each pool: whether it can be asked, and whether its server has it. */
export const examination = defineExamination({
  area: AREA,
  order: 22,
  settings: PoolSettings,
  async examine({ settings, environment, isOffline, now }, own) {
    const { MODEL_POOLS: pools } = own;
    if (settings === null) return [];
    if (pools.length === 0) return [ok(AREA, 'no pools yet', SET)];
    const models = openModels(await discoverProviders(), environment, { settings, now });
    const catalog = openCatalog({ models, now: Date.now });
    const usual = poolFor(own, 'chat')?.name;

    async function problemOf(name: string): Promise<string | null> {
      const model = models.find(name);
      if (model === null) return `${name}: no provider here has it`;
      const lacks = model.server.problem();
      if (lacks !== null) return `${name}: ${lacks}`;
      if (isOffline) return null;
      const listing = await catalog.look(name);
      if (listing.kind === 'missing') {
        const nearest =
          listing.nearest === null ? '' : `, whose nearest there is ${listing.nearest}`;
        return `${name} is not in the list of its server${nearest}`;
      }
      return null;
    }

    const found = pools.map(async ({ name, models: members }): Promise<Finding> => {
      const problems = await Promise.all(members.map((member) => problemOf(member.name)));
      const bad = problems.filter((one) => one !== null);
      const usable = members.length - bad.length;
      const title = `${name}${name === usual ? ' (default)' : ''}`;
      if (bad.length === 0) return ok(AREA, `${title}: ${usable} models`);
      return problem(
        AREA,
        `${title}: ${usable} of ${members.length} can be asked; ${bad.join('; ')}`,
        SET,
      );
    });
    const unknown = unknownPools(own).map((name) =>
      problem(AREA, `the pool ${name} is named in .env and is not in MODEL_POOLS`, SET),
    );
    return [...(await Promise.all(found)), ...unknown];
  },
});
