import { expect, test, vi } from 'vitest';
import { TestProject, textsOf } from '../../testing/assistant.ts';
import { ask } from '../../testing/owner/owner-chat.ts';
import { familyAsks, hears } from '../../testing/turn/asking.ts';
import { isIdle } from '../../testing/turn/tasks.ts';

const HOUR_MS = 3_600_000;
const PLANTS = 'Shall I water the plants? Say yes or no.';

type Assistant = Awaited<ReturnType<TestProject['start']>>;
type Between = (assistant: Assistant, passes: (ms: number) => void) => Promise<void>;

// As a task of the agent's, or its send_message from another chat, would say it.
const assistantSays: Between = async ({ store }) => {
  const saidAt = Date.now() + 1;
  store.outbox.add({ messageId: 'm1', jid: 'terminal:main', text: PLANTS, turnId: null }, saidAt);
  // The question that is put once more counts as later than this only from the next millisecond on.
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(saidAt));
};
const SOMETHING_ELSE =
  'Something else was said here since I asked; `1 yes` and the like always counts.';
const OVERTAKEN: readonly (readonly [string, Between, string])[] = [
  ['something the assistant says', assistantSays, SOMETHING_ELSE],
  [
    'the answer to a command',
    async (assistant) => void (await ask(assistant, '/status', 'queue')),
    SOMETHING_ELSE,
  ],
  [
    'more than an hour',
    async (_, passes) => passes(HOUR_MS + 1),
    'I asked this more than an hour ago.',
  ],
  ['a night', async (_, passes) => passes(9.5 * HOUR_MS), 'I asked this 9 hours ago.'],
  ['a journey', async (_, passes) => passes(75 * HOUR_MS), 'I asked this 3 days ago.'],
];

async function isAskedToDelete(project: TestProject) {
  let laterMs = 0;
  const assistant = await project.start({ over: { now: () => Date.now() + laterMs } });
  const { store, chat } = assistant;
  await chat.meet('chat:book-club', 'Book club');
  await ask(assistant, '/register Book club', 'Book club');
  await ask(assistant, '/unregister Book club delete', 'Say yes or no');
  const passes = (ms: number) => {
    laterMs += ms;
  };
  return { assistant, passes, isThere: () => store.groups.byJid('chat:book-club') !== null };
}

test.each(OVERTAKEN)(
  'after %s a yes is no yes: the question is asked once more',
  async (_, between, why) => {
    using project = new TestProject();
    const { assistant, passes, isThere } = await isAskedToDelete(project);
    await between(assistant, passes);
    const again = await ask(assistant, 'yes', 'once more');
    expect(again).toContain(`${why} To be sure, once more:`);
    expect(again).toMatch(/Book club.*Say yes or no/s);
    expect(isThere()).toBe(true);
    await ask(assistant, 'yes', 'deleted');
    expect(isThere()).toBe(false);
    await assistant.stop();
  },
);

test.each(OVERTAKEN)('after %s a yes that names its question counts', async (_, between) => {
  using project = new TestProject();
  const { assistant, passes, isThere } = await isAskedToDelete(project);
  await between(assistant, passes);
  await ask(assistant, '1 yes', 'deleted');
  expect(isThere()).toBe(false);
  await assistant.stop();
});

test('a yes within the hour counts', async () => {
  using project = new TestProject();
  const { assistant, passes, isThere } = await isAskedToDelete(project);
  passes(HOUR_MS / 2);
  await ask(assistant, 'ok', 'deleted');
  expect(isThere()).toBe(false);
  await assistant.stop();
});

test('a yes to what another member said is no yes to the assistant', async () => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [{ to: 'bob', text: 'Paint it?' }]);
  const { chat, clock, family, replies } = assistant;
  await hears(chat, 'Paint it?');
  clock.pass(1000);
  await family('Are you coming to dinner?', { sender: 'eve' });
  await family('yes');
  await hears(chat, `${SOMETHING_ELSE} To be sure, once more:\n\nPaint it?`);
  expect(replies).toEqual([]);
  clock.pass(1000);
  await family('Then I buy bread.', { sender: 'eve' });
  await family('1 yes');
  await isIdle(assistant);
  expect(replies).toEqual([{ word: 'yes', isAnswered: true }]);
  expect(textsOf(chat)).toContain('Noted: yes.');
  await assistant.stop();
});
