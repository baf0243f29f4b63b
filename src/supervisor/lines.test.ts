import { expect, test } from 'vitest';
import { openLines } from './lines.ts';

function lines(isOneByOne: boolean) {
  const said: string[] = [];
  let changes = 0;
  const queue = openLines({
    runId: 'run',
    now: () => 1,
    isOneByOne,
    onSettled: () => void said.push('settled'),
    onChange: () => {
      changes += 1;
    },
  });
  const attach = (to: string) => queue.attach((line) => said.push(`${to}: ${line.text}`));
  return { queue, said, attach, changes: () => changes };
}

test('a line typed while no assistant runs goes to the next one', () => {
  const { queue, said, attach } = lines(false);
  queue.add('a');
  queue.add('b');
  attach('first');
  expect(said).toEqual(['first: a', 'first: b']);
});

test('a line that was handed over but not stored goes to the next assistant again', () => {
  const { queue, said, attach } = lines(false);
  attach('first');
  queue.add('a');
  queue.add('b');
  queue.stored(1);
  queue.detach();
  queue.add('c');
  attach('second');
  expect(said).toEqual(['first: a', 'first: b', 'second: b', 'second: c']);
  expect(queue.awaiting()).toBe(1);
});

test('piped lines are said one by one, also across a restart', () => {
  const { queue, said, attach } = lines(true);
  attach('first');
  for (const text of ['a', 'b', 'c']) queue.add(text);
  queue.stored(1);
  queue.detach();
  attach('second');
  expect(said).toEqual(['first: a']);
  queue.settled(1);
  expect(said).toEqual(['first: a', 'settled', 'second: b']);
  queue.stored(2);
  queue.settled(2);
  expect(queue.isIdle()).toBe(false);
  queue.stored(3);
  queue.settled(3);
  queue.settled(3);
  expect(said).toEqual(['first: a', 'settled', 'second: b', 'settled', 'second: c', 'settled']);
  expect(queue.isIdle()).toBe(true);
});
