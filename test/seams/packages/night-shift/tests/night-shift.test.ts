import { expect, test } from 'vitest';
import { openModels } from '../../../src/model/model.ts';
import { discoverProviders } from '../../../src/model/provider.ts';
import { discoverRouters } from '../../../src/model/router.ts';
import { openRouting } from '../../../src/model/routing.ts';

test('tasks go to the other model first, and talk to the usual one', async () => {
  const environment = { NIGHT_MODEL: 'openai/small', MODEL: 'openai/large' };
  const settings = { model: environment.MODEL, modelContext: null, modelPrice: null };
  const models = openModels(await discoverProviders(), environment, { settings });
  const parts = { models, log: { warn() {} }, now: () => 0 };
  const { chooseModels } = openRouting(await discoverRouters(), environment, parts);
  const turn = {
    group: { name: 'Main', folder: 'main', isMain: true },
    taskType: 'chat',
    prompt: 'hello',
  };
  const namesFor = async (isTask: boolean) => {
    const route = await chooseModels({ ...turn, isTask, taskType: isTask ? 'task' : 'chat' });
    return route.kind === 'models' ? route.models.map(({ name }) => name) : route;
  };
  expect(await namesFor(true)).toEqual(['small', 'large']);
  expect(await namesFor(false)).toEqual(['large']);
});
