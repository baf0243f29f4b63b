import { expect, test, vi } from 'vitest';
import { TestProject, textsOf } from '../../testing/assistant.ts';

test('an image that could not be built is built again at the next start after /sandbox build', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  const { terminal, store, stop } = assistant;
  await terminal.say('/sandbox build');
  await vi.waitFor(() =>
    expect(textsOf(terminal)).toContainEqual(
      expect.stringContaining('No build of the image for agents has failed.'),
    ),
  );
  store.engines.noteFailedBuild({ image: 'docker a:1', problem: 'no network', at: 0 });
  store.engines.note({ kind: 'ready', engine: 'docker', description: 'docker 20' });
  await terminal.say('/sandbox build');
  await vi.waitFor(() =>
    expect(textsOf(terminal)).toContainEqual(
      expect.stringContaining('built again at the next start: say `/restart`.'),
    ),
  );
  expect(store.engines.failedBuild()).toBeNull();
  await stop();
});
