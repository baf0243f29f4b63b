import { expect, test } from 'vitest';
import { setup } from '../../../src/setup/notes.ts';
import type { SetupQuestion } from '../../../src/setup/step.ts';

test('the step asks for accounts and days, refuses what .env could not hold, and writes both', async () => {
  const problems: (string | null)[] = [];
  const written: object[] = [];
  const answers = ['telegram:12345, ada@example.org', '7'];
  const context = {
    dataDir: '/nowhere',
    args: [],
    isInteractive: true,
    say() {},
    async ask({ check, initial, proposed }: SetupQuestion) {
      const atFirst = proposed ?? initial ?? '';
      for (const typed of ['a"b#', '40', atFirst]) problems.push(String(await check(typed)));
      return answers.shift() ?? '';
    },
    write: (values: object) => void written.push(values),
    signal: new AbortController().signal,
  };
  const outcome = await setup.run({ NOTES_DAYS: '99' }, context);
  expect(outcome.summary).toBe('Notes of 7 days; yours: telegram:12345, ada@example.org.');
  expect(written).toEqual([{ OWNER_ALIASES: 'telegram:12345, ada@example.org', NOTES_DAYS: '7' }]);
  expect(problems.map((problem) => problem !== 'null')).toEqual([
    true,
    false,
    false,
    true,
    true,
    false,
  ]);
  expect(setup.currentState({}, '/nowhere')).toBeNull();
  expect(setup.currentState({ OWNER_ALIASES: 'slack:U1' }, '/nowhere')).toBe(
    '3 days, also known as slack:U1',
  );
});
