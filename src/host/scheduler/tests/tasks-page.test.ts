import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { TestClock } from '../../../testing/clock.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/tasks.md'), 'utf8');

test('the conversation on the page about tasks goes as it says', async () => {
  using project = new TestProject();
  let before = 0;
  /** Does what the page's first line asks for, and what its task says. */
  const agent: AgentScript = async ({ folder, prompt }, { onTool }) => {
    if (prompt.startsWith('[Scheduled task')) {
      // A model takes longer than the command that asked for the run.
      await vi.waitFor(() => expect(assistant.terminal.sent.length).toBeGreaterThan(before));
      return answers('Put the bins out, please.');
    }
    const input = {
      prompt: 'Remind everybody to put the bins out',
      kind: 'cron',
      schedule: '0 20 * * 0',
    };
    const { value } = await onTool({ folder, name: 'schedule_task', input });
    return answers(String(value));
  };
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const over = { now: clock.now, setTimer: clock.setTimer, timeZone: 'Europe/Berlin' };
  const assistant = await project.start({ agent, over });
  const [, body = ''] = /^# .+\n\n```chat\n(.*?)```/s.exec(PAGE) ?? [];
  const said = body.split('\n').filter((line) => line.startsWith('> '));
  expect(said.length).toBeGreaterThan(3);
  let shown = '';
  for (const line of said) {
    before = assistant.terminal.sent.length;
    await assistant.terminal.say(line.slice(2));
    const count = line.includes('run 1 now') ? 2 : 1;
    await vi.waitFor(() => expect(assistant.terminal.sent).toHaveLength(before + count));
    shown += [line, ...textsOf(assistant.terminal).slice(before), ''].join('\n');
  }
  expect(shown).toBe(body);
  await assistant.stop();
});
