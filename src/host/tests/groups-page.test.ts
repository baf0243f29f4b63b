import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { TestProject, textsOf } from '../../testing/assistant.ts';

const PATH = join(import.meta.dirname, '../../../docs/groups.md');

/** `UPDATE_DOCS=1` writes what is really said into the page. */
const isUpdating = process.env['UPDATE_DOCS'] === '1';

test('the conversation on the page about groups goes as it says', async () => {
  using project = new TestProject();
  let clock = Date.UTC(2026, 10, 21, 12);
  const assistant = await project.start({ over: { now: () => ++clock } });
  const { chat, terminal } = assistant;
  await chat.meet('chat:1', 'Book Circle');
  await chat.meet('chat:2', 'Family Chat');
  const page = readFileSync(PATH, 'utf8');
  const [, body = ''] = /^# .+\n\n```chat\n(.*?)```/s.exec(page) ?? [];
  const lines = body.split('\n').filter((line) => line.startsWith('> '));
  expect(lines.length).toBeGreaterThan(3);
  let shown = '';
  for (const line of lines) {
    // Whom `/allow` names has written before.
    if (line.includes('/allow'))
      await chat.say('hello all', { jid: 'chat:2', isDirect: false, chatName: 'Family Chat' });
    const before = terminal.sent.length;
    await terminal.say(line.slice(2));
    await vi.waitFor(() => expect(terminal.sent).toHaveLength(before + 1));
    shown += [line, ...textsOf(terminal).slice(before), ''].join('\n');
  }
  if (isUpdating)
    writeFileSync(
      PATH,
      page.replace(body, () => shown),
    );
  else expect(shown).toBe(body);
  await assistant.stop();
});
