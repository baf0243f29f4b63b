import { expect, test } from 'vitest';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { examination, KEY, settingsOf, setup } from './fixtures.ts';
import { LinearServer } from './linear-server.ts';

test('the key is tried with Linear before anything is written', async () => {
  await using linear = await new LinearServer().comeUp();
  const typed = ['short', 'lin_api_not-the-right-one', KEY, '', 'ada', 'Ada@Example.org'];
  const { context, problems, said, written } = ownerAtKeyboard(typed);
  const outcome = await setup.run({ LINEAR_API_URL: linear.url }, context);
  expect(problems).toEqual([
    expect.stringContaining('A key looks like'),
    expect.stringMatching(/does not take the key(?!.*\.env)/),
    expect.stringContaining('Write your e-mail address'),
    expect.stringContaining('Write your e-mail address'),
  ]);
  expect(said).toEqual(['The key belongs to Andy, in Acme.']);
  expect(written).toEqual({ LINEAR_API_KEY: KEY, LINEAR_ALLOW_FROM: 'ada@example.org' });
  expect(outcome.summary).toContain('assigned to Andy');
  expect(setup.currentState(written, '/nowhere')).toBe(
    'a key, and ada@example.org may give issues',
  );
});

test('claw doctor says whose key it is, and what is wrong', async () => {
  await using linear = await new LinearServer().comeUp();
  const found = async (env: Readonly<Record<string, string>>, isOffline = false) => {
    const findings = await examination.examine(examinedSettings(env, { isOffline }));
    expect(JSON.stringify(findings)).not.toContain(KEY);
    return findings;
  };
  const env = settingsOf(linear);
  expect(await found({})).toMatchObject([{ ok: true, message: 'no key yet' }]);
  expect(await found(env)).toMatchObject([
    { ok: true, message: 'the key belongs to Andy, in Acme' },
  ]);
  expect(await found({ ...env, LINEAR_ALLOW_FROM: '' }, true)).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
    { ok: false, message: expect.stringContaining('LINEAR_ALLOW_FROM') },
  ]);
  linear.key = null;
  expect(await found(env)).toMatchObject([
    { ok: false, message: expect.stringContaining('does not take the key') },
  ]);
  await linear.goDown();
  expect(await found(env)).toMatchObject([
    {
      ok: false,
      message: expect.stringMatching(/cannot be reached \([A-Z_]+: /),
    },
  ]);
});
