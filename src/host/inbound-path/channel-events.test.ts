import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore, type Store } from '../../store/store.ts';
import { startAssistant, TestProject } from '../../testing/assistant.ts';
import { killAt } from '../../testing/kill.ts';
import { openGroupCommit } from './channel-events.ts';

const textsIn = (store: Store, jid = 'terminal:main') =>
  store.messages.between({ jid, from: 0, upto: 1_000_000 }, 10_000).map(({ text }) => text);

test('messages that arrive together are one commit, in their order', async () => {
  using project = new TestProject();
  const store = openStore({ path: join(project.dir, 'claw.db'), now: 0 });
  const sizes: number[] = [];
  const told: number[][] = [];
  const commit = openGroupCommit<number>({
    store: {
      batch: (works) => {
        sizes.push(works.length);
        return store.batch(works);
      },
    },
    onStored: (values) => void told.push([...values]),
  });
  const works = Array.from({ length: 700 }, (_, at) => commit(() => at));
  expect(await Promise.all(works)).toEqual(Array.from({ length: 700 }, (_, at) => at));
  expect(sizes).toEqual([500, 200]);
  expect(told.flat()).toEqual(Array.from({ length: 700 }, (_, at) => at));
  await commit(() => 1);
  expect(sizes.at(-1)).toBe(1);
  store.close();
});

test('what follows from being stored is done first, and its failure is told to those who wait', async () => {
  using project = new TestProject();
  const store = openStore({ path: join(project.dir, 'claw.db'), now: 0 });
  const commit = openGroupCommit<string>({
    store,
    onStored: () => {
      throw new Error('no turn can be claimed');
    },
  });
  await expect(commit(() => 'one')).rejects.toThrow('no turn can be claimed');
  store.close();
});

test('no message that was acknowledged is lost when the process is killed', async () => {
  using project = new TestProject();
  const count = await killAt(
    project,
    `const assistant = await startAssistant(dir, { agent: () => never() });
     let count = 0;
     for (let at = 0; at < 300; at += 1) {
       void assistant.terminal.say('message ' + at, { id: String(at) }).then(() => {
         count += 1;
         if (count === 250) halt();
       });
       if (at % 10 === 0) await new Promise((go) => setImmediate(go));
     }`,
  );
  expect(count).toBe('now');
  const store = openStore({ path: join(project.dir, 'data/claw.db'), now: 0 });
  const texts = textsIn(store);
  expect(texts.length).toBeGreaterThanOrEqual(250);
  expect(texts).toEqual(texts.map((_, at) => `message ${at}`));
  store.close();
});

test('a message that cannot be stored is refused alone', async () => {
  using project = new TestProject();
  const { terminal, store, stop } = await startAssistant(project.dir);
  const results = await Promise.allSettled([
    terminal.say('one'),
    terminal.say('without a time', { sentAt: 0.5 }),
    terminal.say('two'),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(textsIn(store)).toEqual(['one', 'two']);
  await stop();
});
