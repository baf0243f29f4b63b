import { afterEach, expect, test, vi } from 'vitest';
import { openLivenessCheck } from '../run.ts';

afterEach(() => void vi.useRealTimers());

test('an assistant that answered before counts as hanging after three unanswered questions', () => {
  vi.useFakeTimers();
  const onLost = vi.fn();
  let answers = true;
  const liveness = openLivenessCheck({
    intervalMs: 10,
    ask: () => answers && liveness.heard(),
    onLost,
  });
  liveness.start();
  vi.advanceTimersByTime(1_000);
  answers = false;
  vi.advanceTimersByTime(30);
  expect(onLost).not.toHaveBeenCalled();
  answers = true;
  vi.advanceTimersByTime(1_000);
  answers = false;
  vi.advanceTimersByTime(1_000);
  expect(onLost).toHaveBeenCalledTimes(1);
});

test('an assistant that never answered does not know the question, and is left alone', () => {
  vi.useFakeTimers();
  const onLost = vi.fn();
  openLivenessCheck({ intervalMs: 10, ask: () => {}, onLost }).start();
  vi.advanceTimersByTime(1_000);
  expect(onLost).not.toHaveBeenCalled();
});
