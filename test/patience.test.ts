import { expect, test, vi } from 'vitest';

test('an event is waited for longer than the second after which vitest gives up', async () => {
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, 1_200);
  await vi.waitFor(() => expect(isOver).toBe(true));
});
