import { expect, test, vi } from 'vitest';
import { CommitBeforeSend } from './commit-before-send.ts';

/** Makes one whose disk can be full, and a list of its writes and sends, in order. */
function committingOn(disk: { isFull: boolean }) {
  const events: string[] = [];
  let changes = 0;
  const commit = () => {
    if (disk.isFull) throw new Error('the disk is full');
    events.push(`commit of ${changes}`);
    changes = 0;
  };
  const log = { info: () => {}, warn: (message: string) => void events.push(message) };
  const commits = new CommitBeforeSend(commit, log);
  const change = () => {
    changes += 1;
    commits.change();
  };
  return { events, commits, change, send: (name: string) => commits.send(() => events.push(name)) };
}

const turn = () => new Promise(setImmediate);

test('a frame waits for the commit of earlier changes, and one commit serves a burst', async () => {
  const { events, change, send } = committingOn({ isFull: false });
  send('a');
  change();
  send('b');
  change();
  send('c');
  expect(events).toEqual(['a']);
  await turn();
  expect(events).toEqual(['a', 'commit of 2', 'b', 'c']);
  send('d');
  expect(events.at(-1)).toBe('d');
});

test('while the disk refuses nothing goes out; it goes out when it can be stored', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const disk = { isFull: true };
  const { events, change, send } = committingOn(disk);
  change();
  send('a');
  await turn();
  change();
  send('b');
  await turn();
  expect(events).toEqual(['keys of WhatsApp could not be stored']);
  disk.isFull = false;
  vi.advanceTimersByTime(1_000);
  expect(events.slice(1)).toEqual(['commit of 2', 'a', 'b']);
  vi.useRealTimers();
});

test('at the end everything is committed, and where nothing can be held back each change at once', () => {
  const { events, commits, change, send } = committingOn({ isFull: false });
  change();
  commits.close();
  expect(events).toEqual(['commit of 1']);
  commits.commitAtOnce();
  change();
  send('a');
  expect(events).toEqual(['commit of 1', 'commit of 1', 'a']);
});
