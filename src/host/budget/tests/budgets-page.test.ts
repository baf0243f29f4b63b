import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TestProject } from '../../../testing/assistant.ts';
import { TestClock } from '../../../testing/clock.ts';
import { cents } from '../../../testing/turn/spender.ts';
import { commands } from '../../../testing/turn/tasks.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/budgets.md'), 'utf8');

test('the conversation on the page about budgets goes as it says', async () => {
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const assistant = await project.start({
    over: { now: clock.now, setTimer: clock.setTimer, timeZone: 'Europe/Berlin' },
  });
  const { store } = assistant;
  const spent = (folder: string, amount: number) => {
    const microUsd = amount * 10_000;
    store.usage.add({ ...cents(1), day: '2026-11-21', folder, model: 'm', microUsd });
  };
  for (const name of ['Family', 'Chess club']) {
    const [folder = ''] = name.toLowerCase().split(' ');
    const jid = `chat:${folder}`;
    store.chats.see({ jid, channel: 'chat', name, isDirect: false }, 1);
    const group = { jid, folder, name, triggerWord: null, isMain: false };
    store.groups.register({ ...group, needsTrigger: true }, 1);
  }
  store.budgets.set('chess', { microUsd: 1_000_000, tokens: null });
  spent('family', 415);
  spent('main', 40);
  spent('chess', 12);
  const [, body = ''] = /```chat\n(.*?)```/s.exec(PAGE) ?? [];
  const said = body.split('\n').filter((line) => line.startsWith('> '));
  expect(said).toHaveLength(2);
  let shown = '';
  for (const line of said) shown += `${line}\n${await commands(assistant, line.slice(2))}\n`;
  expect(shown).toBe(body);
  await assistant.stop();
});
