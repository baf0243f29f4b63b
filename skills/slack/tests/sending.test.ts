import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChannelClock, OutboundMessage } from '../../../src/channels/channel.ts';
import { connectChannel, GENERAL, inMemory, startWorkspace, stoppedClock } from './fixtures.ts';
import type { SlackServer } from './slack-server.ts';

const JID = `slack:${GENERAL}`;

let nextId = 0;

/** A channel that is connected to a workspace. */
async function connectedWorkspace(clock?: ChannelClock) {
  const slack = await startWorkspace();
  const { channel } = await connectChannel(slack, {}, clock);
  return {
    slack,
    channel,
    send: (text: string, id = `m${nextId++}`) => channel.send({ id, jid: JID, text }),
    async [Symbol.asyncDispose]() {
      await channel.disconnect();
      await slack.goDown();
    },
  };
}

/** Returns the texts that people would read. */
function shown({ posted }: SlackServer): string[] {
  return posted.map(({ text }) =>
    text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  );
}

test.concurrent('plain words arrive as they are, and no text can call a whole channel', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  await send('1 < 2 && "3" > 2 &amp; <!channel> <@U0EVE> 🐢');
  expect(slack.posted).toEqual([
    {
      channel: GENERAL,
      text: '1 &lt; 2 &amp;&amp; "3" &gt; 2 &amp;amp; &lt;!channel&gt; &lt;@U0EVE&gt; 🐢',
    },
  ]);
});

test.concurrent('Markdown becomes mrkdwn', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  await send(
    [
      '# Report of **today**',
      '',
      'Some **bold**, *italic*, ~~gone~~ and `x < y` words,',
      'see [the page](https://example.org/?a=1&b=|) or https://example.org/x.',
      '',
      '- one',
      '- [x] two',
      '  1. inner',
      '  2. **more**',
      '',
      '> said',
      '> twice',
      '',
      '```ts',
      'if (a < b) return 1;',
      '```',
      '',
      '| a | b |',
      '|---|---|',
      '| 1 | 2 |',
      '',
      '---',
      '[file](src/a.ts) ![cat](https://example.org/cat.png)',
    ].join('\n'),
  );
  expect(slack.posted.map(({ text }) => text)).toEqual([
    [
      '*Report of today*',
      '',
      'Some *bold*, _italic_, ~gone~ and `x &lt; y` words,',
      'see <https://example.org/?a=1&amp;b=%7C|the page> or <https://example.org/x>.',
      '',
      '• one',
      '• ☑ two',
      '    1. inner',
      '    2. *more*',
      '',
      '> said',
      '> twice',
      '',
      '```',
      'if (a &lt; b) return 1;',
      '```',
      '',
      '```',
      'a  b',
      '─  ─',
      '1  2',
      '```',
      '',
      '———',
      'file (src/a.ts) <https://example.org/cat.png|cat>',
    ].join('\n'),
  ]);
});

test.concurrent('a link never previews: the address is the model’s choice', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  await send('https://example.org');
  expect(slack.calls.findLast(({ method }) => method === 'chat.postMessage')?.fields).toMatchObject(
    {
      unfurl_links: 'false',
      unfurl_media: 'false',
    },
  );
});

test.concurrent('deeply nested Markdown arrives, formatted or not', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  await send(`${'>'.repeat(3_800)}deep`);
  await send(`${'- '.repeat(1_900)}deep`);
  await send(`${'*'.repeat(3_000)}star`);
  await send(`${'['.repeat(3_000)}x`);
  expect(slack.posted.length).toBeGreaterThanOrEqual(4);
  expect(slack.posted.every(({ text }) => text.length <= 3_900)).toBe(true);
});

test.concurrent('a paragraph that is too long is split between lines, a line at a space or anywhere', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index} `.padEnd(100, 'x'));
  await send(lines.join('\n'));
  expect(shown(slack).map((text) => text.length)).toEqual([3_837, 1_211]);
  expect(shown(slack).join('\n')).toBe(lines.join('\n'));
  await send('x'.repeat(10_000));
  expect(
    shown(slack)
      .slice(2)
      .map((text) => text.length),
  ).toEqual([3_900, 3_900, 2_200]);
});

test.concurrent('a text that grows by escaping still fits, and nothing of it is lost', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  const text = 'a<b>&c '.repeat(1_500).trim();
  await send(text);
  expect(slack.posted.every((message) => message.text.length <= 3_900)).toBe(true);
  expect(shown(slack).join(' ')).toBe(text);
});

test.concurrent('a text without words sends nothing, and typing is not shown', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  const before = slack.calls.length;
  await send(' \n\n\n ');
  await workspace.channel.setTyping(JID, true);
  await workspace.channel.setTyping(JID, false);
  expect(slack.calls).toHaveLength(before);
});

test.concurrent('a channel that is not there, or without the app, rejects with what Slack said', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  const missing = workspace.channel.send({ id: 'm', jid: 'slack:C0NONE', text: 'hi' });
  await expect(missing).rejects.toThrow('channel_not_found');
  slack.failNext('chat.postMessage', { body: { ok: false, error: 'not_in_channel' } });
  await expect(send('hi')).rejects.toMatchObject({ code: 'REFUSED' });
  const other = workspace.channel.send({ id: 'm', jid: 'telegram:1', text: 'hi' });
  await expect(other).rejects.toMatchObject({ code: 'JID_INVALID' });
});

test.concurrent('a send without an answer is of unknown outcome', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  slack.failNext('chat.postMessage', { status: 500, body: {} });
  await expect(send('hello')).rejects.toMatchObject({ name: 'UnknownDelivery' });
  slack.failNext('chat.postMessage', { cutLine: true });
  await expect(send('hello')).rejects.toMatchObject({ name: 'UnknownDelivery' });
  slack.failNext('chat.postMessage', { body: { ok: false, error: 'internal_error' } });
  await expect(send('hello')).rejects.toMatchObject({ name: 'UnknownDelivery' });
  const posts = slack.calls.filter(({ method }) => method === 'chat.postMessage');
  expect(posts).toHaveLength(3);
});

test.concurrent('a message that is sent again while it is on its way goes out once', async () => {
  const clock = stoppedClock();
  await using workspace = await connectedWorkspace(clock);
  const { slack, send } = workspace;
  await Promise.all([send('hello', 'same'), send('hello', 'same')]);
  expect(slack.posted).toHaveLength(1);
});

test.concurrent('a message whose outcome was lost is looked for, in its thread and over pages, and not sent twice', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  slack.pageLimit = 2;
  const lost = { id: 'lost', jid: `slack:${GENERAL}`, text: 'hello' };
  slack.failNext('chat.postMessage', { cutLine: true });
  await expect(workspace.channel.send(lost)).rejects.toMatchObject({ name: 'UnknownDelivery' });
  for (const id of ['a', 'b', 'c']) await send(id, id);
  await workspace.channel.send(lost);
  expect(slack.posted.filter(({ text }) => text === 'hello')).toHaveLength(1);
  // It is known from now on, so that it can be changed.
  await workspace.channel.send({ id: 'next', jid: lost.jid, text: 'hello!', replaces: 'lost' });
  expect(slack.posted[0]).toMatchObject({ text: 'hello!' });

  const inThread = { ...lost, id: 'deep', thread: '1.000100' };
  slack.failNext('chat.postMessage', { cutLine: true });
  await expect(workspace.channel.send(inThread)).rejects.toMatchObject({ name: 'UnknownDelivery' });
  await workspace.channel.send(inThread);
  expect(slack.posted.filter(({ text }) => text === 'hello')).toHaveLength(1);
});

test.concurrent('a message whose outcome was lost and that is not there is sent, also by an app that may not look', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, send } = workspace;
  const lose = async (id: string) => {
    slack.failNext('chat.postMessage', { status: 503, body: {} });
    await expect(send(id, id)).rejects.toMatchObject({ name: 'UnknownDelivery' });
  };
  await lose('one');
  await send('one', 'one');
  // Without an answer to the look nothing is sent, so the host tries again.
  await lose('two');
  slack.failNext('conversations.history', { status: 500, body: {} });
  await expect(send('two', 'two')).rejects.toMatchObject({ code: 'UNREACHABLE' });
  expect(slack.posted.map(({ text }) => text)).toEqual(['one']);
  slack.lacking.add('history');
  await send('two', 'two');
  expect(slack.posted.map(({ text }) => text)).toEqual(['one', 'two']);
  // What Slack has refused is known not to be there.
  slack.lacking.clear();
  slack.failNext('chat.postMessage', { body: { ok: false, error: 'restricted_action' } });
  await expect(send('three', 'three')).rejects.toMatchObject({ code: 'REFUSED' });
  const looks = () => slack.calls.filter(({ method }) => method.startsWith('conversations.h'));
  const before = looks().length;
  await send('three', 'three');
  expect(looks()).toHaveLength(before);
});

/** A file in a temporary folder. */
function fileOf(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'slack-files-'));
  const path = join(folder, '1f-copy');
  writeFileSync(path, text);
  const file = { path, name: 'übersicht 1.csv', sizeBytes: Buffer.byteLength(text) };
  return { file, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

const THREAD = '1699999999.000100';

test.concurrent('text and files go to the thread that asked, the files whole and under their names', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, channel } = workspace;
  using made = fileOf('größe,b\n1,2\n');
  const message = { jid: JID, text: 'Here it is.', thread: THREAD, attachments: [made.file] };
  await channel.send({ id: 'f1', ...message });
  expect(shown(slack)).toEqual(['Here it is.']);
  expect([...slack.threads]).toEqual([['Here it is.', THREAD]]);
  const sent = { channel: GENERAL, name: 'übersicht 1.csv', text: 'größe,b\n1,2\n' };
  expect(slack.files).toEqual([{ ...sent, thread: THREAD }]);
  await channel.send({ id: 'f2', jid: JID, text: '', attachments: [made.file] });
  expect(slack.files.at(-1)).toEqual({ ...sent, thread: null });
});

test.concurrent('an upload that breaks is begun again, and the text is not said twice', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, channel } = workspace;
  using made = fileOf('x');
  slack.failNext('upload', { status: 500, body: {} });
  const message = { id: 'f3', jid: JID, text: 'one', attachments: [made.file] };
  await expect(channel.send(message)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  expect(slack.files).toEqual([]);
  await channel.send(message);
  expect(shown(slack)).toEqual(['one']);
  expect(slack.files).toHaveLength(1);
});

test.concurrent('a file whose outcome was lost is looked for by the next process, and not shown twice', async () => {
  const slack = await startWorkspace();
  using made = fileOf('x');
  const disk = inMemory();
  const again = async (message: OutboundMessage) => {
    await using next = await connectChannel(slack, {}, stoppedClock(), disk);
    await next.channel.send(message);
  };
  const files = [made.file, { ...made.file, name: 'second' }];
  const message = { id: 'f5', jid: JID, text: 'one', attachments: files };
  slack.failNext('files.completeUploadExternal', { cutLine: true }, 1);
  await expect(again(message)).rejects.toMatchObject({ name: 'UnknownDelivery' });
  expect(slack.files.map(({ name }) => name)).toEqual(files.map(({ name }) => name));
  slack.failNext('conversations.history', { status: 500, body: {} });
  await expect(again(message)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  await again(message);
  await again({ ...message, mayBeThere: { since: 0 } });
  expect(slack.files).toHaveLength(2);
  expect(shown(slack)).toEqual(['one']);
  // One that was uploaded, and shown to nobody, is sent.
  const inThread = { ...message, id: 'f6', thread: THREAD };
  slack.failNext('files.completeUploadExternal', { status: 500, body: {} }, 1);
  await expect(again(inThread)).rejects.toMatchObject({ name: 'UnknownDelivery' });
  await again(inThread);
  expect(slack.files.slice(2).map(({ name, thread }) => [name, thread])).toEqual(
    files.map(({ name }) => [name, THREAD]),
  );
  await slack.goDown();
});

test.concurrent('an app that may not send files says so in the chat, and what to do', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, channel } = workspace;
  slack.lacking.add('files:write').add('reactions:write');
  using made = fileOf('x');
  await channel.send({ id: 'f4', jid: JID, text: 'one', attachments: [made.file] });
  expect(shown(slack)).toEqual(['one', expect.stringContaining('add the scope files:write')]);
  const reactsTo = { id: THREAD, sender: 'U0ADA', text: 'hello' };
  await channel.send({ id: 'r0', jid: JID, text: '👍', reactsTo });
  expect(shown(slack).at(-1)).toBe('👍');
});

test.concurrent('a line of progress takes the place of the one before; what cannot be edited is said again', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, channel } = workspace;
  await channel.send({ id: 'p1', jid: JID, text: '… one' });
  await channel.send({ id: 'p2', jid: JID, text: '… one\n**two**', replaces: 'p1' });
  await channel.send({ id: 'p3', jid: JID, text: '… three', replaces: 'p2' });
  expect(shown(slack)).toEqual(['… three']);
  slack.deleteAll();
  await channel.send({ id: 'p4', jid: JID, text: '… four', replaces: 'p3' });
  await channel.send({ id: 'p5', jid: JID, text: '… five', replaces: 'of another process' });
  expect(shown(slack)).toEqual(['… four', '… five']);
});

test.concurrent('an emoji is put on the message, once; one that Slack has no name for here is said', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, channel } = workspace;
  const reactsTo = { id: THREAD, sender: 'U0ADA', text: 'hello' };
  for (const id of ['r1', 'r2']) await channel.send({ id, jid: JID, text: '👍🏽', reactsTo });
  await channel.send({ id: 'r3', jid: JID, text: '❤️', reactsTo });
  expect(slack.reactions).toEqual([`${THREAD} +1`, `${THREAD} heart`]);
  expect(slack.posted).toEqual([]);
  await channel.send({ id: 'r4', jid: JID, text: '🦥', reactsTo });
  expect(shown(slack)).toEqual(['🦥']);
});

test.concurrent('where others have talked on, an answer begins a thread at what it answers, seen in the channel', async () => {
  await using workspace = await connectedWorkspace();
  const { slack, channel } = workspace;
  const replyTo = { id: THREAD, sender: 'U0ADA', text: 'hello' };
  await channel.send({ id: 'a1', jid: JID, text: 'One', replyTo });
  expect(slack.threads.get('One')).toBe(THREAD);
  expect(slack.broadcasts).toEqual(['One']);
  await channel.send({ id: 'a2', jid: JID, text: 'Two', replyTo, thread: '1700000000.000777' });
  expect(slack.threads.get('Two')).toBe('1700000000.000777');
  await channel.draft?.({ id: 'd1', jid: JID, text: 'Three', activity: null, replyTo });
  expect(slack.threads.has('Three …')).toBe(false);
  expect(slack.broadcasts).toEqual(['One']);
});
