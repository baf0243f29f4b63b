import { expect, test } from 'vitest';
import { groupLines } from './groups.ts';
import { taskLines } from './tasks.ts';

const STEERING = '\u001b]0;owned\u0007\u001b[2J\r\u009b31m';

test('what agents and chats are called does not steer the terminal', () => {
  const chat = { jid: 'a@b', name: `Club${STEERING}`, folder: null, isMain: false };
  const trigger = { needsTrigger: true, trigger: `robot${STEERING}` };
  const task = {
    id: 1,
    folder: 'club',
    chat: `Club${STEERING}`,
    prompt: `feed the cat${STEERING}`,
  };
  const when = {
    kind: 'every',
    schedule: `1 hour${STEERING}`,
    timeZone: 'UTC',
    state: 'active',
  } as const;
  const lines = [
    ...groupLines([
      { ...chat, ...trigger },
      { ...chat, ...trigger, folder: 'club' },
    ]),
    ...taskLines([{ ...task, ...when, nextRun: null, lastRun: null }]),
  ];
  expect(lines.join('')).toContain('feed the cat');
  expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});
