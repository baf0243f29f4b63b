import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type * as Assistants from '../../src/testing/assistant.ts';
import type * as Clocks from '../../src/testing/clock.ts';
import type * as Tasks from '../../src/testing/turn/tasks.ts';
import { type Clone, cloneWithoutProof, type Snapshot } from '../story/clone.ts';

// Two skills that change the way of a message, and meet in two files of the core: one holds messages in the outbox, the
// other gives them another chat there.

const QUIET = 'quiet-hours';
const PRIVATE = 'private-answers';
const MEETING = ['src/host/turns/agent/agent-runner.ts', 'src/store/outbox.ts'];
const MINUTES = 20 * 60_000;

let clone: Clone;
let released: Snapshot;
beforeAll(() => {
  clone = cloneWithoutProof();
  released = clone.code();
}, MINUTES);
afterAll(async () => await clone?.[Symbol.asyncDispose]());

async function change(verb: 'apply' | 'remove', ...names: readonly string[]): Promise<void> {
  const run = await clone.claw(verb, ...names, '--yes');
  expect(run.json.error, `${verb} ${names.join(' ')}`).toBeNull();
  expect(run.json.conflicts).toEqual([]);
}

const digestOf = (code: Snapshot): string =>
  createHash('sha256').update(JSON.stringify(code)).digest('hex');

/** Lists the files of the release that are other ones now. */
const changedFiles = (): readonly string[] => {
  const code = clone.code();
  return Object.keys(released).filter((path) => code[path] !== released[path]);
};

test('both skills give the same tree in either order, and either can be removed first', async () => {
  await change('apply', QUIET);
  const quiet = digestOf(clone.code());
  const ofQuiet = changedFiles();
  await change('apply', PRIVATE);
  const both = digestOf(clone.code());
  await change('remove', QUIET);
  const ofPrivate = changedFiles();
  const alone = digestOf(clone.code());
  expect(ofQuiet.filter((path) => ofPrivate.includes(path)).toSorted()).toEqual(MEETING);
  await change('apply', QUIET);
  expect(digestOf(clone.code())).toBe(both);
  await change('remove', PRIVATE);
  expect(digestOf(clone.code())).toBe(quiet);
  await change('remove', QUIET);
  expect(clone.code()).toEqual(released);
  await change('apply', PRIVATE, QUIET);
  expect(digestOf(clone.code())).toBe(both);
  await change('remove', QUIET);
  expect(digestOf(clone.code())).toBe(alone);
  await change('remove', PRIVATE);
  expect(clone.code()).toEqual(released);
});

test('a private answer to somebody waits for the morning, and the owner has theirs at once', async () => {
  await change('apply', PRIVATE, QUIET);
  const { answers, TestProject, textsOf }: typeof Assistants = await load('assistant.ts');
  const { TestClock }: typeof Clocks = await load('clock.ts');
  const { commands, FAMILY, isIdle, startWithFamily }: typeof Tasks = await load('turn/tasks.ts');
  // 23:30 in Berlin.
  const clock = new TestClock('2026-11-21T22:30:00Z');
  using project = new TestProject();
  const start = () => startWithFamily(project, async () => answers('the code is 42'), clock);
  let assistant = await start();
  const { store, chat, terminal } = assistant;
  store.chats.see({ jid: 'chat:ben', channel: 'chat', name: 'Ben', isDirect: true }, 1);
  store.groups.register(
    {
      jid: 'chat:ben',
      folder: 'ben',
      name: 'Ben',
      needsTrigger: false,
      triggerWord: null,
      isMain: false,
    },
    1,
  );
  await chat.say('hello', { jid: 'chat:ben', sender: 'ben' });
  await isIdle(assistant);
  chat.sent.length = 0;
  await commands(assistant, '/quiet 22:00-7:00');
  const ask = (sender: string, isOwner: boolean) =>
    chat.say('@Andy /private the code?', { jid: FAMILY, isDirect: false, sender, isOwner });
  await ask('ben', false);
  // The line in the group, and the answer.
  await vi.waitFor(() =>
    expect(store.turns.counts()).toMatchObject({ queued: 0, running: 0, unsent: 2 }),
  );
  expect(chat.sent).toEqual([]);
  clock.pass(1_000);
  await ask('ada', true);
  await vi.waitFor(() =>
    expect(textsOf(terminal).at(-1)).toBe('In private, from Family:\n\nthe code is 42'),
  );
  await vi.waitFor(() => expect(textsOf(chat)).toEqual(['I answer this in private.']));
  await assistant.stop();

  clock.pass(8 * 3_600_000);
  assistant = await start();
  await isIdle(assistant);
  expect(assistant.chat.sent.map(({ jid, text }) => `${jid}: ${text}`).toSorted()).toEqual([
    'chat:ben: In private, from Family:\n\nthe code is 42',
    `${FAMILY}: I answer this in private.`,
  ]);
  expect(textsOf(assistant.terminal)).toEqual([]);
  await assistant.stop();
  await change('remove', PRIVATE, QUIET);
});

/** Loads what tests of the clone use to run the assistant that is in it. */
async function load<T>(path: string): Promise<T> {
  return await import(clone.path(`src/testing/${path}`));
}
