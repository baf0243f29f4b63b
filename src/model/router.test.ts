import { expect, test } from 'vitest';
import { ContributionFolder } from '../testing/contributions.ts';
import { openModels } from './model.ts';
import { discoverProviders } from './provider.ts';
import { discoverRouters, type RoutedTurn } from './router.ts';
import { openRouting } from './routing.ts';

const TURN: RoutedTurn = {
  group: { name: 'Family', folder: 'family', isMain: false },
  isTask: true,
  taskType: 'task',
  prompt: 'Water the plants',
};

/** Sends tasks to other models, as `ROUTE` names them. */
const CHEAP = `
  import { z } from 'zod';
  import { defineRouter } from 'src/model/router.ts';
  export const router = defineRouter({
    name: 'cheap',
    order: 300,
    settings: z.object({ ROUTE: z.string().regex(/^[^ ]/, 'must begin with a name').optional() }),
    needs: ['ROUTE'],
    create: (context) => context.settings.ROUTE === undefined ? null : (turn) => {
      context.log.warn('asked', { made: Object.keys(context).sort(), turn, one: context.find('openai/one') });
      if (turn.prompt === 'throw') throw new Error('no idea');
      return turn.isTask ? context.settings.ROUTE.split(',') : null;
    },
  });`;

test('without another router, the model of the settings answers', async () => {
  const { chooseModels } = await routing({ ANTHROPIC_API_KEY: 'k' });
  expect(await ids(chooseModels(TURN))).toEqual(['anthropic/claude-sonnet-5-5']);
});

test('a router is a file: it names models, best first, or leaves the turn to the next', async () => {
  const { chooseModels, logged } = await routing({
    ANTHROPIC_API_KEY: 'k',
    ROUTE: 'openai/one,openai/two,openai/one',
  });
  expect(await ids(chooseModels(TURN))).toEqual(['openai/one', 'openai/two']);
  expect(await ids(chooseModels({ ...TURN, isTask: false }))).toEqual([
    'anthropic/claude-sonnet-5-5',
  ]);
  expect(logged[0]).toEqual([
    'asked',
    {
      made: ['chosenFor', 'configuredName', 'find', 'log', 'now', 'settings'],
      turn: TURN,
      one: {
        id: 'openai/one',
        contextTokens: 200_000,
        abilities: { vision: true, tools: true, reasoning: true },
      },
    },
  ]);
});

const CAUTIOUS = `
  import { defineRouter } from 'src/model/router.ts';
  export const router = defineRouter({
    name: 'cautious',
    order: 50,
    create: () => async ({ id, jid, hasPictures }, { next, callService }) => {
      if (id === undefined) return await next();
      const first = await callService('adviser', { id, jid, hasPictures });
      const { models, ...others } = await next();
      return { ...others, models: [first, ...models], notice: 'asked around' };
    },
  });`;

test('a router changes the answer of those after it, and asks a service of the turn', async () => {
  const { chooseModels, logged } = await routing({ ANTHROPIC_API_KEY: 'k' }, CAUTIOUS);
  const usual = ['anthropic/claude-sonnet-5-5'];
  expect(await ids(chooseModels(TURN))).toEqual(usual);
  const calls: unknown[][] = [];
  const turn = { ...TURN, id: 't1', jid: 'chat:family', hasPictures: true };
  const route = await chooseModels(turn, async (...call) => {
    calls.push(call);
    return 'anthropic/advised';
  });
  expect(calls).toEqual([['adviser', { id: 't1', jid: 'chat:family', hasPictures: true }]]);
  expect(await ids(Promise.resolve(route))).toEqual(['anthropic/advised', ...usual]);
  expect(route).toMatchObject({ notice: 'asked around' });
  // Without the way to a service the router fails, and those after it choose.
  expect(await ids(chooseModels(turn))).toEqual(usual);
  expect(logged.at(-1)).toMatchObject([expect.any(String), { router: 'cautious' }]);
});

test('models that cannot answer are left out, and the log says why', async () => {
  const { chooseModels, logged } = await routing({
    ROUTE: 'acme/x,anthropic/keyless,openai/one,openai/other',
  });
  expect(await ids(chooseModels(TURN))).toEqual(['openai/one', 'openai/other']);
  expect(logged.slice(1)).toEqual([
    [expect.any(String), { model: 'acme/x', problem: 'no provider here has it' }],
    [
      expect.any(String),
      { model: 'anthropic/keyless', problem: expect.stringContaining('no key') },
    ],
  ]);
  // A turn asks for its work aside as well: one fault is one line.
  await chooseModels({ ...TURN, taskType: 'summary' });
  await chooseModels({ ...TURN, taskType: 'subagent' });
  expect(logged.filter(([message]) => message !== 'asked')).toHaveLength(2);
});

test('a router adds headers to a model or takes its tools away, and hears what became of it', async () => {
  const { chooseModels } = await routing(
    { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'o' },
    `
    import { defineRouter } from 'src/model/router.ts';
    export const router = defineRouter({
      name: 'rich', order: 50,
      create: () => ({ taskType }) => ({
        models: [{ name: 'anthropic/a', headers: { 'x-type': taskType } }, { name: 'openai/b', isTextOnly: () => true, contextTokens: 9, maxTokens: 50 }],
        onPassedOver: (name, { message }) => name + ' is down: ' + message,
      }),
    });`,
  );
  const route = await chooseModels(TURN);
  if (route.kind === 'none') throw new Error(route.message);
  const [first, second] = route.models;
  expect(await first.server.headers()).toEqual({ 'x-api-key': 'k', 'x-type': 'task' });
  expect(first.abilities.tools).toBe(true);
  expect(second).toMatchObject({
    id: 'openai/b',
    abilities: { tools: false },
    contextTokens: 9,
  });
  expect(second?.adapt({ max_tokens: 400 })).toEqual({ max_tokens: 50 });
  expect(route.onPassedOver?.('anthropic/a', { code: 'MODEL_FAILED', message: 'gone' })).toBe(
    'anthropic/a is down: gone',
  );
});

test('if no model can answer, the turn is told why', async () => {
  const { chooseModels } = await routing({});
  expect(await chooseModels(TURN)).toEqual({
    kind: 'none',
    message: expect.stringContaining('There is no key for the model yet.'),
  });
});

test('a router that throws, or whose setting is wrong, leaves the choice to the others', async () => {
  const failing = await routing({ ANTHROPIC_API_KEY: 'k', ROUTE: 'openai/one' });
  expect(await ids(failing.chooseModels({ ...TURN, prompt: 'throw' }))).toEqual([
    'anthropic/claude-sonnet-5-5',
  ]);
  expect(failing.logged.at(-1)).toEqual([
    expect.any(String),
    { router: 'cheap', error: 'Error: no idea' },
  ]);
  const wrong = await routing({ ANTHROPIC_API_KEY: 'k', ROUTE: ' x' });
  const silent = wrong.silent.filter(({ name }) => name === 'cheap');
  expect(silent).toMatchObject([{ wrong: [{ name: 'ROUTE' }] }]);
  expect(await ids(wrong.chooseModels(TURN))).toEqual(['anthropic/claude-sonnet-5-5']);
});

async function routing(environment: Readonly<Record<string, string>>, file = CHEAP) {
  using folder = new ContributionFolder({ 'cheap.ts': file });
  const ofTree = await discoverRouters();
  // Those of skills have a say as well.
  const own = ofTree.filter(({ name }) => name === 'chosen' || name === 'configured');
  const definitions = [...(await discoverRouters(folder.dir)), ...own];
  const settings = { model: null, modelContext: null, modelPrice: null };
  const logged: unknown[][] = [];
  const log = { warn: (...line: unknown[]) => void logged.push(line) };
  const models = openModels(await discoverProviders(), environment, { settings });
  return { ...openRouting(definitions, environment, { models, log, now: () => 0 }), logged };
}

async function ids(choosing: ReturnType<Awaited<ReturnType<typeof routing>>['chooseModels']>) {
  const route = await choosing;
  return route.kind === 'models' ? route.models.map(({ id }) => id) : route;
}
