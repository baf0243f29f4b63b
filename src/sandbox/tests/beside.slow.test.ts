import { expect, test, vi } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

for (const engine of ['docker', 'bubblewrap'] as const) {
  await describeWithEngine(engine, 'a turn beside others', () => {
    test('runs in a container of its own on the same folders, and leaves none behind', async () => {
      await using project = await sandboxProject({ engine });
      const { sandbox } = project;
      const chats = project.turn('shell: until test -e done; do sleep 0.1; done; cat done');
      await vi.waitFor(() => expect(project.server.requests).toHaveLength(1));
      const beside = project.turn('shell: echo written beside >done.new && mv done.new done', {
        isBeside: true,
      });
      expect(await beside).toMatchObject({ kind: 'answered' });
      expect(await chats).toMatchObject({
        kind: 'answered',
        text: expect.stringContaining('written beside'),
      });
      expect(sandbox.warm()).toBe(1);
    });

    test('is stopped alone, and with its group', async () => {
      await using project = await sandboxProject({ engine });
      const { sandbox } = project;
      const chats = project.turn('shell: sleep 600');
      const alone = project.turn('shell: sleep 601', { isBeside: true });
      const other = project.turn('shell: sleep 602', { isBeside: true });
      const started = () => project.server.requests.length;
      await vi.waitFor(() => expect(started()).toBe(3));
      const died = { kind: 'failed', code: 'AGENT_DIED' };
      await sandbox.stop('family', 'turn-2');
      expect(await alone).toMatchObject(died);
      expect(sandbox.warm()).toBe(2);
      await sandbox.stop('family', 'turn-1');
      expect(await chats).toMatchObject(died);
      expect(sandbox.warm()).toBe(1);
      await sandbox.stop('family');
      expect(await other).toMatchObject(died);
    });
  });
}
