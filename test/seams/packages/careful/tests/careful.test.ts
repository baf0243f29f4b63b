import { expect, test } from 'vitest';
import { discoverGuards } from '../../../src/host/contracts/guard.ts';
import { openGuards } from '../../../src/host/turns/tool-calls/guarded-calls.ts';

test('a message to another chat is asked about, one to its own is not', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const places = { dataDir: '/nowhere', groupsDir: '/nowhere' };
  const context = { ...places, timeZone: 'UTC', log, now: () => 0, newId: () => 'id' };
  const { guards } = openGuards(await discoverGuards(), {}, context);
  const group = { name: 'Main', folder: 'main', isMain: true };
  const tool = { name: 'send_message', isMainOnly: false };
  const refusalOf = (input: object) =>
    guards.refusalOf(
      {
        tool,
        group,
        isTask: false,
        runsIn: 'host',
        input,
        turn: 't1',
        outside: null,
        elsewhere: null,
      },
      async (_call, reason) => reason,
    );
  expect(await refusalOf({ text: 'hello', group: 'family' })).toBe('It goes to another chat.');
  expect(await refusalOf({ text: 'hello', group: 'main' })).toBeNull();
  expect(await refusalOf({ text: 'hello' })).toBeNull();
});
