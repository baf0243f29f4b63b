import { expect, test } from 'vitest';
import { openLines, type Speaker } from './lines.ts';

function lines(isOneByOne: boolean) {
  const said: string[] = [];
  const queue = openLines({ runId: 'run', now: () => 1, onChange: () => {} });
  const speaker = (name: string, oneByOne: boolean): Speaker => ({
    isOneByOne: oneByOne,
    acknowledged: () => void said.push(`${name} acknowledged`),
    asked: () => void said.push(`${name} asked`),
  });
  const owner = speaker('owner', isOneByOne);
  const shell = speaker('shell', false);
  const attach = (to: string) => queue.attach((line) => said.push(`${to}: ${line.text}`));
  return { queue, said, attach, owner, shell };
}

test('a line typed while no assistant runs goes to the next one', () => {
  const { queue, said, attach, owner } = lines(false);
  queue.add(owner, 'a');
  queue.add(owner, 'b');
  attach('first');
  expect(said).toEqual(['first: a', 'first: b']);
});

test('a line that was handed over but not stored goes to the next assistant again', () => {
  const { queue, said, attach, owner } = lines(false);
  attach('first');
  queue.add(owner, 'a');
  queue.add(owner, 'b');
  queue.stored(1);
  queue.detach();
  queue.add(owner, 'c');
  attach('second');
  expect(said).toEqual(['first: a', 'first: b', 'second: b', 'second: c']);
  expect(queue.awaiting()).toBe(1);
});

test('piped lines are said one by one, also across a restart', () => {
  const { queue, said, attach, owner } = lines(true);
  attach('first');
  for (const text of ['a', 'b', 'c']) queue.add(owner, text);
  queue.stored(1);
  queue.detach();
  attach('second');
  expect(said).toEqual(['first: a']);
  queue.acknowledged(1);
  expect(said).toEqual(['first: a', 'owner acknowledged', 'second: b']);
  queue.stored(2);
  queue.acknowledged(2);
  expect(queue.isIdle()).toBe(false);
  queue.stored(3);
  queue.acknowledged(3);
  queue.acknowledged(3);
  const after = ['owner acknowledged', 'second: c', 'owner acknowledged'];
  expect(said).toEqual(['first: a', 'owner acknowledged', 'second: b', ...after]);
  expect(queue.isIdle()).toBe(true);
});

test('a piped line answers a question about the one before, which is not answered by that', () => {
  const { queue, said, attach, owner, shell } = lines(true);
  attach('first');
  queue.add(owner, 'a');
  queue.asking(['run-1'], true);
  for (const text of ['yes', 'b', 'c']) queue.add(owner, text);
  queue.add(shell, 'x');
  queue.asking(['run-3', 'run-99'], true);
  expect(said).toEqual(['first: a', 'owner asked', 'first: yes', 'first: x', 'shell asked']);
  // An answer that was none leaves the question open, and the next line may be one.
  queue.answered(['run-2'], 'answered');
  expect(said.slice(5)).toEqual(['owner acknowledged', 'owner asked', 'first: b']);
  queue.asking(['run-1'], false);
  queue.answered(['run-4'], 'answered');
  expect(said.slice(8)).toEqual(['owner acknowledged']);
  queue.answered(['run-1'], 'answered');
  expect(said.slice(9)).toEqual(['owner acknowledged', 'first: c']);
});

test('a question of an ended assistant is not open in the next one until it is asked again', () => {
  const { queue, said, attach, owner } = lines(true);
  attach('first');
  queue.add(owner, 'a');
  queue.stored(1);
  queue.asking(['run-1'], true);
  queue.detach();
  queue.add(owner, 'yes');
  attach('second');
  expect(said).toEqual(['first: a', 'owner asked']);
  queue.asking(['run-1'], true);
  expect(said).toEqual(['first: a', 'owner asked', 'owner asked', 'second: yes']);
});

test('a shell does not wait for what is piped in, and is acknowledged by itself', () => {
  const { queue, said, attach, owner, shell } = lines(true);
  attach('first');
  queue.add(owner, 'a');
  queue.add(owner, 'b');
  queue.add(shell, 'c');
  expect(said).toEqual(['first: a', 'first: c']);
  queue.stored(2);
  queue.answered(['run-2', 'run-99'], 'answered');
  expect(said.slice(2)).toEqual(['shell acknowledged']);
  expect([queue.isIdle(shell), queue.isIdle(owner), queue.awaiting()]).toEqual([true, false, 1]);
  queue.acknowledged(2);
  expect(said.slice(3)).toEqual(['owner acknowledged', 'first: b']);
});

test('whoever waits for an answer is recognised by the message that it answers', () => {
  const { queue, attach, owner, shell } = lines(false);
  attach('first');
  queue.add(owner, 'a');
  queue.add(shell, 'b');
  expect(queue.speakersOf(['run-2'])).toEqual([shell]);
  expect(queue.speakersOf(['run-1', 'run-2'])).toEqual([owner, shell]);
  queue.answered(['run-1'], 'answered');
  expect(queue.speakersOf(['run-1', 'another-run-2'])).toEqual([]);
});
