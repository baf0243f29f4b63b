import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

for (const engine of ['docker', 'bubblewrap'] as const) {
  await describeWithEngine(engine, `the clock of an agent under ${engine}`, () => {
    test('has the time zone of the owner, whatever that of the machine is', async () => {
      // Its offset, of a quarter of an hour, is nobody's default.
      await using project = await sandboxProject({
        engine,
        options: { timeZone: 'Asia/Kathmandu' },
      });
      expect(
        await project.answer('shell: echo $TZ; date +%z; node -p "new Date(0).getHours()"'),
      ).toBe('Asia/Kathmandu\n+0545\n5\n[exit code 0]');
    });
  });
}
