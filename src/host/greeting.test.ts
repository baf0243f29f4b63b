import { expect, test } from 'vitest';
import { readSettings } from '../config.ts';
import { greetingOf } from './greeting.ts';
import { lazySandbox } from './turns/agent/lazy-sandbox.ts';

test('the first greeting names what the channels of this tree add to it, and no other', async () => {
  const settings = readSettings({}, '/');
  const models = { configuredName: 'acme/one', problem: () => null };
  const sandbox = lazySandbox(async () => ({ kind: 'unavailable', advice: 'No engine.' }));
  const lastLine = async (hints: readonly string[]) =>
    (await greetingOf({ settings, models, sandbox, hints, starterSet })).split('\n').at(-1);
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
      sandbox: null,
      hints: [],
      starterSet: { all: ['web', 'guard'], applied },
    });
  expect(await greet([])).toMatch(
    /\nA good start: `\/add-web guard` adds what most people want\.$/,
  );
  expect(await greet(['guard'])).not.toContain('A good start');
});
