import { expect, test, vi } from 'vitest';
import { answers, TestProject, textsOf } from '../../testing/assistant.ts';

const lost = { kind: 'failed', code: 'MACHINE_LOST', message: 'nas is gone.' } as const;

test('a turn whose machine was lost runs again, knows its calls, and is answered once', async () => {
  using project = new TestProject();
  const earlier: unknown[] = [];
  let runs = 0;
  const assistant = await project.start({
    async agent(request, { onTool }) {
      runs += 1;
      earlier.push((request.earlier ?? []).map(({ name, ok }) => ({ name, ok })));
      if (runs > 1) return answers('Done.');
      await onTool({ folder: request.folder, name: 'list_tasks', input: {} });
      return lost;
    },
  });
  await assistant.terminal.say('please');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toEqual(['Done.']));
  expect(earlier).toEqual([[], [{ name: 'list_tasks', ok: true }]]);
  await assistant.stop();
  expect(textsOf(assistant.terminal)).toEqual(['Done.']);
});

test('a turn that loses its machine three times is given up, and its chat is told once', async () => {
  using project = new TestProject();
  let runs = 0;
  const assistant = await project.start({
    async agent() {
      runs += 1;
      return lost;
    },
  });
  await assistant.terminal.say('please');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toHaveLength(1));
  await assistant.stop();
  expect(runs).toBe(3);
  expect(textsOf(assistant.terminal)).toEqual([expect.stringContaining('nas is gone.')]);
});
