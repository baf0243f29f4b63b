import { expect, test } from 'vitest';
import { z } from 'zod';
import { choicesOf, discoverContributions } from './contributions.ts';
import { findWrongOwnSettings, findWrongSettings } from './wrong-settings.ts';

test.each([
  ['CLAW_MAX_CONTAINERS', 'abc', 'must be a whole number from 1 to 64, not "abc"'],
  ['CLAW_MAX_AGENTS', '0', 'must be a whole number from 1 to 64, not "0"'],
  ['CLAW_IDLE_MS', '1.5', 'must be a whole number from 1 to 2147483647, not "1.5"'],
  ['MODEL_CONTEXT', '12', 'must be a whole number from 1000 to 100000000, not "12"'],
  ['SESSION_EXPIRY_HOURS', '-1', 'must be a number from 0 to 87600, not "-1"'],
  ['CLAW_LOG_LEVEL', 'loud', 'must be error, warn, info or debug, not "loud"'],
])('%s=%s is refused in one plain sentence', (name, value, problem) => {
  const problems = findWrongSettings({ [name]: value }, '/nowhere');
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`${name} in the environment ${problem}`);
  expect(problems[0]).toMatch(/^[^\n]+[^.]\.$/);
});

test.each([
  ['CLAW_SANDBOX', 'vm', /must be docker, .*bubblewrap.*, not "vm"/],
  ['MODEL', 'gpt-5', /must be anthropic\/<model>.* openai\/<model>/],
  ['MODEL', 'openai/', /must be anthropic\/<model>.* openai\/<model>/],
  ['OPENAI_BASE_URL', 'https://api.example.org/v1not a url', /must be the address of a server/],
  ['ANTHROPIC_BASE_URL', 'localhost:99999', /must be the address of a server/],
])(
  '%s=%s is refused by what the engines and providers of this tree take',
  async (name, value, problem) => {
    const contributions = await discoverContributions();
    const all = [...choicesOf(contributions, {}), ...Object.values(contributions).flat()];
    const problems = findWrongOwnSettings(all, { [name]: value }, '/nowhere');
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems[0]).toContain(`${name} in the environment must be`);
  },
);

test('settings that are right are no matter of words', () => {
  const right = {
    CLAW_MAX_CONTAINERS: ' 64 ',
    SESSION_EXPIRY_HOURS: '0.5',
    CLAW_LOG_LEVEL: 'warn',
  };
  expect(findWrongSettings(right, '/nowhere')).toEqual([]);
});

test('a setting that has to be set, and one of another type, are named without a word of the library', () => {
  const settings = z.object({
    HOOK_SECRET: z.string(),
    HOOK_URL: z.url('must be an address'),
    HOOK_PORT: z.coerce.number(),
  });
  const given = { HOOK_SECRET: '', HOOK_PORT: 'high' };
  expect(findWrongOwnSettings([{ name: 'hook', settings }], given, '/nowhere')).toEqual([
    'HOOK_SECRET is not set.',
    'HOOK_URL is not set.',
    'HOOK_PORT in the environment must be a number.',
  ]);
});
