import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { FAMILY, isIdle, startWithFamily, toolCaller } from '../../testing/turn/tasks.ts';
import { withPictureWords } from './answer-files.ts';

/** A group whose agent says what it is told to; its channel sends files. */
async function startShowing(project: TestProject, agent: AgentScript) {
  const assistant = await startWithFamily(project, agent);
  const { chat } = assistant;
  chat.capabilities = { attachments: { maxBytes: 1_000 } };
  const contents: string[] = [];
  const send = chat.send.bind(chat);
  chat.send = async (message) => {
    await send(message);
    for (const { path } of message.attachments ?? []) contents.push(readFileSync(path, 'utf8'));
  };
  const folder = join(project.dir, 'groups/family');
  mkdirSync(join(folder, 'my charts'), { recursive: true });
  writeFileSync(join(folder, 'my charts/sales.png'), 'a chart');
  writeFileSync(join(folder, 'plan.png'), 'a plan');
  const copies = () => {
    const shelf = join(project.dir, 'data/outgoing');
    return existsSync(shelf) ? readdirSync(shelf) : [];
  };
  const hear = async () => {
    await chat.say('@Andy show me', { jid: FAMILY, isDirect: false });
    await isIdle(assistant);
    return chat.sent.at(-1);
  };
  return { assistant, folder, contents, copies, hear };
}

test('pictures that an answer shows go along with it, and those elsewhere stay words', async () => {
  using project = new TestProject();
  const said = [
    'Sales: ![Sales of May](<my charts/sales.png> "in euros") and again ![](my%20charts/sales.png),',
    'the plan ![the plan](file:///workspace/group/plan.png).',
    'On the web: ![logo](https://example.org/logo.png) ![x](data:image/png;base64,AAAA)',
    'As code: `![a](plan.png)`',
  ].join('\n');
  const { assistant, contents, copies, hear } = await startShowing(project, async () =>
    answers(said),
  );
  expect(await hear()).toMatchObject({
    text: [
      'Sales: [Sales of May] and again [sales.png],',
      'the plan [the plan].',
      'On the web: ![logo](https://example.org/logo.png) ![x](data:image/png;base64,AAAA)',
      'As code: `![a](plan.png)`',
    ].join('\n'),
    attachments: [{ name: 'sales.png' }, { name: 'plan.png' }],
  });
  expect(contents).toEqual(['a chart', 'a plan']);
  // They are kept to be looked at.
  expect(copies()).toHaveLength(2);
  await assistant.stop();
});

test('a picture that is none of the group’s files is not sent, and the answer says so', async () => {
  using project = new TestProject({ 'groups/club/secret.png': 'of the club' });
  let said = '';
  const { assistant, folder, contents, copies, hear } = await startShowing(project, async () =>
    answers(said),
  );
  symlinkSync('../club/secret.png', join(folder, 'link.png'));
  symlinkSync('../club', join(folder, 'club'));
  execFileSync('mkfifo', [join(folder, 'pipe.png')]);
  writeFileSync(join(folder, 'empty.png'), '');
  await using socket = createServer().listen(join(folder, 'socket.png'));
  await once(socket, 'listening');
  const show = async (path: string) => {
    said = `Look: ![it](${path})`;
    const message = await hear();
    expect(message).not.toHaveProperty('attachments');
    return message?.text;
  };
  expect(await show('link.png')).toContain(
    'Look: [link.png is not sent: it is a link or below one',
  );
  expect(await show('club/secret.png')).toContain('it is a link or below one');
  expect(await show('../club/secret.png')).toContain('only files of this chat');
  expect(await show('/etc/passwd')).toContain('only files of this chat');
  expect(await show('pipe.png')).toContain('it is not a file');
  expect(await show('socket.png')).toContain('socket.png is not sent: it is not a file.');
  expect(await show('empty.png')).toContain('empty.png is not sent: it is empty.');
  expect(await show('none.png')).toContain('there is no such file');
  expect(contents).toEqual([]);
  expect(copies()).toEqual([]);
  await assistant.stop();
});

test('an answer takes ten pictures along, and the channel says what it cannot send', async () => {
  using project = new TestProject();
  const names = Array.from({ length: 11 }, (_, at) => `p${at}.png`);
  const said = names.map((name) => `![](${name})`).join(' ');
  const { assistant, folder, hear } = await startShowing(project, async () => answers(said));
  for (const name of names)
    writeFileSync(join(folder, name), 'x'.repeat(name === 'p1.png' ? 1_001 : 1));
  const message = await hear();
  expect(message?.attachments).toHaveLength(9);
  expect(message?.text).toContain('[p10.png is not sent: 10 files go along with one answer.]');
  expect(message?.text).toContain(
    '- File `groups/family/p1.png` (2 kB) is not sent, as this channel',
  );
  await assistant.stop();
});

test('send_file sends a file with a caption or without', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const { assistant, contents } = await startShowing(project, tools.agent);
  const sendFile = (input: object) => tools.call(assistant, 'family', ['send_file', input]);
  expect(await sendFile({ path: '/workspace/group/plan.png', caption: 'The *plan*' })).toEqual([
    { ok: true, value: 'Queued for this chat.' },
  ]);
  expect(await sendFile({ path: 'plan.png' })).toMatchObject([{ ok: true }]);
  expect(await sendFile({ path: '../other/x' })).toMatchObject([{ ok: false }]);
  const files = assistant.chat.sent.filter(({ attachments }) => attachments !== undefined);
  expect(files.map(({ text }) => text)).toEqual(['The *plan*', '']);
  expect(contents).toEqual(['a plan', 'a plan']);
  delete assistant.chat.capabilities;
  const [told] = await sendFile({ path: 'plan.png' });
  expect(told?.value).toContain('cannot send files');
  expect(textsOf(assistant.chat).at(-2)).toMatch(/^- File `groups\/family\/plan\.png` \(1 kB\)/);
  await assistant.stop();
});

test('no picture begins within the words of another', () => {
  expect(withPictureWords('![one ![two](b.png) ![](<c ![](d.png)')).toBe(
    '![one [two] ![](<c [d.png]',
  );
  const beginnings = '![![](<'.repeat(140_000);
  expect(withPictureWords(beginnings)).toBe(beginnings);
});

test('files are not sent while a gigabyte of others waits, and the answer says so', async () => {
  using project = new TestProject();
  const said = 'The plan: ![](plan.png)';
  const { assistant, copies, hear } = await startShowing(project, async () => answers(said));
  const { chat } = assistant;
  const shelf = join(project.dir, 'data/outgoing');
  mkdirSync(shelf, { recursive: true });
  writeFileSync(join(shelf, 'waits'), '');
  truncateSync(join(shelf, 'waits'), 1_000_000_000);
  expect((await hear())?.text).toBe(
    'The plan: [plan.png is not sent: 1 GB of files wait to be sent.]',
  );
  expect(chat.sent.at(-1)?.attachments).toBeUndefined();
  expect(copies()).toEqual(['waits']);
  await assistant.stop();
});
