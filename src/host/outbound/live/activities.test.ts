import { expect, test } from 'vitest';
import { answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { hears } from '../../../testing/turn/asking.ts';
import { led, startWriting } from '../../../testing/turn/live-turn.ts';
import { FAMILY, isIdle, startWithFamily } from '../../../testing/turn/tasks.ts';

test('a turn of more than 20 s says what it does: below its draft, and elsewhere in one message', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, chat, ...assistant } = await startWriting(project);
  await pass(19_999);
  expect(terminal.drafts).toEqual([]);
  await pass(1);
  await pass(500);
  expect(terminal.drafts.at(-1)).toMatchObject({ text: '', activity: 'thinking' });
  await pass(60_000);
  expect(terminal.drafts).toHaveLength(1);
  turn.write('Well');
  await pass(1_000);
  expect(terminal.drafts.at(-1)).toMatchObject({ text: 'Well', activity: null });
  turn.end(answers('Well.'));
  await isIdle({ ...assistant, terminal, chat });
  expect(terminal.sent).toMatchObject([{ text: 'Well.', replaces: terminal.drafts[0]?.id }]);
  await chat.say('@Andy now', { jid: FAMILY, isDirect: false });
  await turn.isAtWork();
  await pass(60_000);
  await hears(chat, '… thinking');
  turn.write('some');
  await pass(60_000);
  turn.end(answers('something'));
  await isIdle({ ...assistant, terminal, chat });
  expect(textsOf(chat)).toEqual(['… thinking', 'something']);
  await assistant.stop();
});

test('a running tool is shown in its own words or by its name; during a question the line says that it waits', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, ...assistant } = await startWriting(project);
  const lines = () => terminal.drafts.map(({ activity }) => activity);
  const own = (id: string, name: string, doing?: string) =>
    turn.events()?.onOwnToolRun?.({ kind: 'began', id, name, doing });
  const ended = (id: string) => turn.events()?.onOwnToolRun?.({ kind: 'ended', id, error: null });
  own('1', 'read_file', 'reading files');
  await pass(19_999);
  expect(lines()).toEqual([]);
  await pass(1);
  await pass(500);
  expect(lines()).toEqual(['reading files']);
  own('2', 'crm__look_up');
  await pass(1_000);
  ended('2');
  await pass(1_000);
  ended('1');
  await pass(1_000);
  own('3', 'shell', `**rm**\n\n${'very '.repeat(20)}`);
  await pass(1_000);
  ended('3');
  expect(lines()).toEqual([
    'reading files',
    'using crm: look up',
    'reading files',
    'thinking',
    `rm ${'very '.repeat(11)}v…`,
  ]);
  // A host tool, whose guard asks the owner.
  const asked = turn.events()?.onAsk?.({ text: 'Really?', choices: [] });
  await hears(terminal, 'Really?');
  await pass(5_000);
  expect(lines().at(-1)).toBe('waiting for an answer');
  await terminal.say('yes');
  expect(await asked).toMatchObject({ word: 'yes' });
  turn.end(answers('Done.'));
  await isIdle({ ...assistant, terminal });
  await assistant.stop();
});

test('a chat that shows no drafts is told once what is done, and not while a person is asked', async () => {
  using project = new TestProject();
  const turn = led();
  const assistant = await startWithFamily(project, turn.agent);
  const { chat, terminal, clock } = assistant;
  await chat.say('@Andy now', { jid: FAMILY, isDirect: false });
  await turn.isAtWork();
  const asked = turn.events()?.onAsk?.({ text: 'Really?', choices: [] });
  await hears(terminal, 'Really?');
  clock.pass(60_000);
  await terminal.say('yes');
  await asked;
  expect(textsOf(chat)).toEqual([]);
  turn
    .events()
    ?.onOwnToolRun?.({ kind: 'began', id: '1', name: 'shell', doing: 'running a command' });
  clock.pass(20_000);
  await hears(chat, '… running a command');
  turn.events()?.onOwnToolRun?.({ kind: 'ended', id: '1', error: null });
  const found = turn.events()?.onTool({ folder: 'family', name: 'search_history', input: {} });
  clock.pass(60_000);
  await found;
  turn.end(answers('Done.'));
  await isIdle(assistant);
  expect(textsOf(chat)).toEqual(['… running a command', 'Done.']);
  await assistant.stop();
});
