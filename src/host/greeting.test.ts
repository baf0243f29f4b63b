import { expect, test } from 'vitest';
import { readSettings } from '../config.ts';
import { greetingOf } from './greeting.ts';
import { lazySandbox } from './turns/agent/lazy-sandbox.ts';

test('the first greeting names what the channels of this tree add to it, and no other', async () => {
  const settings = readSettings({}, '/');
  const models = { configuredName: 'acme/one', problem: () => null };
  const sandbox = lazySandbox(async () => ({ kind: 'unavailable', advice: 'No engine.' }));
  const lastLine = async (hints: readonly string[]) =>
    (await greetingOf({ settings, models, chosenModel: null, sandbox, hints, starterSet }))
      .split('\n')
      .at(-1);
  const starterSet = { all: [], applied: [] };
  const words = 'Say anything to talk to me; /help lists the commands, /skills what I can learn';
  expect(await lastLine([])).toBe(`${words}.`);
  expect(await lastLine(['/pair links Signal', '/dial calls'])).toBe(
    `${words}, /pair links Signal, /dial calls.`,
  );
});

test('the starter set is named until one of it is in', async () => {
  const settings = readSettings({}, '/');
  const models = { configuredName: 'acme/one', problem: () => null };
  const greet = (applied: readonly string[]) =>
    greetingOf({
      settings,
      models,
      chosenModel: null,
      sandbox: null,
      hints: [],
      starterSet: { all: ['web', 'guard'], applied },
    });
  expect(await greet([])).toMatch(
    /\nA good start: `\/add-web guard` adds what most people want\.$/,
  );
  expect(await greet(['guard'])).not.toContain('A good start');
});

test('the model is the one that answers there: that of `/model`, else that of the settings', async () => {
  const parts = { settings: readSettings({}, '/'), sandbox: null, hints: [] };
  const starterSet = { all: [], applied: [] };
  const greet = (chosenModel: string | null, problem: string | null) => {
    const models = { configuredName: 'acme/one', problem: () => problem };
    return greetingOf({ ...parts, starterSet, models, chosenModel });
  };
  expect(await greet(null, null)).toMatch(/Model: acme\/one\.$/);
  expect(await greet('acme/two', null)).toMatch(/Model: acme\/two\.$/);
  expect(await greet('acme/two', 'no key')).toMatch(/Model: acme\/two\.$/);
  expect(await greet(null, 'no key')).toContain('No model yet');
});
