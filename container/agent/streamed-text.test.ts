import { expect, test } from 'vitest';
import type { AgentFrame } from '../../src/sandbox/protocol/frames.ts';
import { StreamedText } from './streamed-text.ts';

/** A text whose frames are kept. */
function kept() {
  const frames: AgentFrame[] = [];
  const text = new StreamedText('t', (frame) => {
    frames.push(frame);
    return true;
  });
  const deltas = () => frames.flatMap((frame) => (frame.type === 'text' ? [frame.delta] : []));
  return { text, deltas };
}

test('words that come at once go out in two frames, and in order', async () => {
  const { text, deltas } = kept();
  for (const word of ['I ', 'look', '.']) text.add(word);
  expect(deltas()).toEqual(['I ']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(deltas()).toEqual(['I ', 'look.']);
  text.endStep();
  text.add('Done.');
  text.flush();
  expect(deltas()).toEqual(['I ', 'look.', '\n\nDone.']);
  expect(text.whole).toBe('I look.\n\nDone.');
});

test('a text without end is sent as far as the host keeps it, and one piece more', async () => {
  const { text, deltas } = kept();
  for (let at = 0; at < 3_000; at += 1) text.add('a'.repeat(1_000));
  text.add('b'.repeat(10_000_000));
  await new Promise((resolve) => setImmediate(resolve));
  const sent = deltas().join('').length;
  expect(sent).toBeGreaterThan(1_048_576);
  expect(sent).toBeLessThan(1_100_000);
  expect(deltas().length).toBeLessThan(20);
  expect(text.whole).toBeNull();
});
