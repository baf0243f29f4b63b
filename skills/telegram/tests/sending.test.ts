import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChannelClock } from '../../../src/channels/channel.ts';
import { pngOf } from '../../../src/testing/pictures.ts';
import { type BotApi, startBotApi } from './bot-api.ts';
import { ADA, ADA_DIRECT, connectChannel, TOKEN } from './fixtures.ts';

const JID = 'telegram:10011';

let nextId = 0;

/** A channel that Ada has written to, so that the bot may answer her. */
async function answering(clock?: ChannelClock) {
  const api = await startBotApi({ token: TOKEN });
  const { channel, host } = await connectChannel(api, {}, clock);
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => host.messages.length === 1);
  return {
    api,
    channel,
    send: (text: string, id = `m${nextId++}`) => channel.send({ id, jid: JID, text }),
    async [Symbol.asyncDispose]() {
      await channel.disconnect();
      await api.goDown();
    },
  };
}

/** Returns the texts that are shown, with the entities written around their words. */
function shown({ sent }: BotApi): string[] {
  return sent.map(({ text, entities }) => {
    const marks = entities.flatMap(({ type, offset, length, url, language }) => [
      {
        at: offset,
        order: 1,
        mark: `{${type}${url ? ` ${url}` : ''}${language ? ` ${language}` : ''}:`,
      },
      { at: offset + length, order: 0, mark: '}' },
    ]);
    marks.sort((a, b) => b.at - a.at || a.order - b.order);
    let marked = text;
    for (const { at, mark } of marks) marked = marked.slice(0, at) + mark + marked.slice(at);
    return marked;
  });
}

test.concurrent('plain words arrive as they are, whatever characters they hold', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  await send('1 < 2 && "3" > \'2\' &amp; <b>not bold</b> </pre> 🐢');
  expect(api.sent).toMatchObject([
    { chatId: 10011, text: '1 < 2 && "3" > \'2\' &amp; <b>not bold</b> </pre> 🐢', entities: [] },
  ]);
});

test.concurrent('Markdown becomes what Telegram can show', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  await send(
    [
      '# Report *of* today',
      '',
      'Some **bold**, *italic*, ~~gone~~ and `x < y` words,',
      'see [the page](https://example.org/?a=1&b="2") or https://example.org/x.',
      '',
      '- one',
      '- [x] two',
      '  1. inner',
      '  2. **more**',
      '',
      '> said <he>',
      '> > deeper',
      '',
      '```ts',
      'if (a < b) return "c";',
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
  expect(shown(api)).toEqual([
    [
      '{bold:Report {italic:of} today}',
      '',
      'Some {bold:bold}, {italic:italic}, {strikethrough:gone} and {code:x < y} words,',
      'see {text_link https://example.org/?a=1&b=&quot;2&quot;:the page} or https://example.org/x.',
      '',
      '• one',
      '• ☑ two',
      '  1. inner',
      '  2. {bold:more}',
      '',
      '{blockquote:said <he>',
      'deeper}',
      '',
      '{pre:{code ts:if (a < b) return "c";}}',
      '',
      '{pre:a  b',
      '─  ─',
      '1  2}',
      '',
      '———',
      'file (src/a.ts) {text_link https://example.org/cat.png:cat}',
    ].join('\n'),
  ]);
});

test.concurrent('a link never previews: the address is the model’s choice', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  await send('https://example.org');
  expect(api.calls.findLast(({ method }) => method === 'sendMessage')?.payload).toMatchObject({
    link_preview_options: { is_disabled: true },
  });
});

test.concurrent('what Telegram does not take as formatted goes out as it was written', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  api.failNext('sendMessage', {
    error_code: 400,
    description: "Bad Request: can't parse entities: Unsupported start tag",
  });
  await send('**bold** & plain');
  expect(api.sent).toMatchObject([{ text: '**bold** & plain', parseMode: null }]);
});

test.concurrent('deeply nested Markdown arrives, formatted or not', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  await send(`${'>'.repeat(3_800)}deep`);
  await send(`${'- '.repeat(1_900)}deep`);
  await send(`${'*'.repeat(3_000)}star`);
  await send(`${'['.repeat(3_000)}x`);
  expect(api.sent).toHaveLength(4);
});

test.concurrent('a paragraph that is too long is split between lines, a line at a space or anywhere', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index} `.padEnd(100, 'x'));
  await send(lines.join('\n'));
  expect(api.sent.map(({ text }) => text.length)).toEqual([4_039, 1_009]);
  expect(api.sent.map(({ text }) => text).join('\n')).toBe(lines.join('\n'));
  await send('word '.repeat(1_000).trim());
  expect(api.sent.slice(2).map(({ text }) => text.split(' ').length)).toEqual([819, 181]);
  await send('x'.repeat(10_000));
  expect(api.sent.slice(4).map(({ text }) => text.length)).toEqual([4_096, 4_096, 1_808]);
});

test.concurrent('a text without words sends nothing', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  await send(' \n\n\n ');
  await send('\n\n'.repeat(5_000));
  expect(api.sent).toEqual([]);
});

test.concurrent('a longer pause than the host would wait for is its business', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  api.failNext('sendMessage', {
    error_code: 429,
    description: 'Too Many Requests: retry after 900',
    parameters: { retry_after: 900 },
  });
  await expect(send('hello')).rejects.toMatchObject({ code: 'REFUSED' });
});

test.concurrent('a chat that is not there, or threw the bot out, rejects with what Telegram said', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  const missing = chat.channel.send({ id: 'm', jid: 'telegram:5', text: 'hi' });
  await expect(missing).rejects.toThrow('chat not found');
  api.failNext('sendMessage', { error_code: 403, description: 'Forbidden: bot was kicked' });
  await expect(send('hi')).rejects.toMatchObject({ code: 'REFUSED' });
  const other = chat.channel.send({ id: 'm', jid: 'slack:C1', text: 'hi' });
  await expect(other).rejects.toMatchObject({ code: 'JID_INVALID' });
});

test.concurrent('a send without an answer is of unknown outcome, and the token stays out of it', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  const unknown = {
    name: 'UnknownDelivery',
    message: expect.not.stringContaining(TOKEN),
  };
  api.failNext('sendMessage', { error_code: 500, description: 'Internal Server Error' });
  await expect(send('one')).rejects.toMatchObject(unknown);
  api.blockNext('sendMessage');
  await expect(send('two')).rejects.toMatchObject(unknown);
  api.loseNext('sendMessage');
  await expect(send('three')).rejects.toMatchObject(unknown);
  expect(api.sent.map(({ text }) => text)).toEqual(['three']);
});

test.concurrent('a message that is sent again while it is on its way goes out once', async () => {
  await using chat = await answering();
  const { api, send } = chat;
  await Promise.all([send('hello', 'same'), send('hello', 'same')]);
  expect(api.sent).toHaveLength(1);
});

test.concurrent('typing is shown in the chat', async () => {
  await using chat = await answering();
  const { api } = chat;
  await chat.channel.setTyping(JID, true);
  await chat.channel.setTyping(JID, false);
  const actions = api.calls.filter(({ method }) => method === 'sendChatAction');
  expect(actions.map(({ payload }) => payload)).toEqual([{ chat_id: 10011, action: 'typing' }]);
});

test.concurrent('files go out after the text, whole and under their names, in the topic that asked', async () => {
  await using chat = await answering();
  const { api, channel } = chat;
  const folder = mkdtempSync(join(tmpdir(), 'telegram-files-'));
  const path = join(folder, '1f-copy');
  writeFileSync(path, 'a,b\n1,2\n');
  const file = { path, name: 'übersicht; 1".csv', sizeBytes: 8 };
  const replyTo = { id: '1', sender: '10011', text: 'hello' };
  const about = { jid: JID, thread: '7', replyTo, attachments: [file] };
  await channel.send({ id: 'f1', text: 'Here it is.', ...about });
  await channel.send({ id: 'f2', text: '', ...about });
  rmSync(folder, { recursive: true });
  const sent = { file: { name: 'übersicht; 1_.csv', text: 'a,b\n1,2\n' }, thread: 7 };
  expect(api.sent).toMatchObject([
    { text: 'Here it is.', replyTo: 1, thread: 7 },
    { text: '', ...sent },
    { text: '', ...sent, replyTo: 1 },
  ]);
  expect(api.sent[1]?.replyTo).toBeUndefined();
  expect(api.calls.findLast(({ method }) => method === 'sendMessage')?.payload).toMatchObject({
    reply_parameters: { message_id: 1, allow_sending_without_reply: true },
  });
});

test.concurrent('a picture is shown, a recording plays, and what Telegram takes as neither is a document', async () => {
  await using chat = await answering();
  const { api, channel } = chat;
  const folder = mkdtempSync(join(tmpdir(), 'telegram-files-'));
  const png = pngOf({ width: 8, height: 8 });
  const opus = Buffer.from('OggS\0\x02 OpusHead');
  const contents = { 'cat.png': png, 'said.ogg': opus, 'song.ogg': Buffer.from('OggS vorbis') };
  const filesNamed = (...names: readonly (keyof typeof contents)[]) =>
    names.map((name) => {
      const path = join(folder, name);
      writeFileSync(path, contents[name]);
      return { path, name, sizeBytes: contents[name].length };
    });
  const ways = () =>
    api.calls.flatMap(({ method }) =>
      /^send(Photo|Voice|Document)$/.test(method) ? [method] : [],
    );
  const all = filesNamed('cat.png', 'said.ogg', 'song.ogg');
  await channel.send({ id: 'kinds', jid: JID, text: '', thread: '7', attachments: all });
  expect(ways()).toEqual(['sendPhoto', 'sendVoice', 'sendDocument']);
  const names = ['cat.png', 'said.ogg', 'song.ogg'];
  expect(api.sent).toMatchObject(names.map((name) => ({ thread: 7, file: { name } })));

  api.calls.length = 0;
  const tooLarge = filesNamed('cat.png').map((file) => ({ ...file, sizeBytes: 10_000_001 }));
  await channel.send({ id: 'large', jid: JID, text: '', attachments: tooLarge });
  expect(ways()).toEqual(['sendDocument']);
  api.calls.length = 0;
  api.failNext('sendPhoto', {
    error_code: 400,
    description: 'Bad Request: PHOTO_INVALID_DIMENSIONS',
  });
  api.failNext('sendVoice', {
    error_code: 400,
    description: 'Bad Request: VOICE_MESSAGES_FORBIDDEN',
  });
  const refused = filesNamed('cat.png', 'said.ogg');
  await channel.send({ id: 'refused', jid: JID, text: '', attachments: refused });
  rmSync(folder, { recursive: true });
  expect(ways()).toEqual(['sendPhoto', 'sendDocument', 'sendVoice', 'sendDocument']);
  const shown = api.sent.slice(-2).map(({ file }) => file?.name);
  expect(shown).toEqual(['cat.png', 'said.ogg']);
  expect(api.sent).toHaveLength(6);
});

test.concurrent('a file that was taken is not sent again when a later one fails', async () => {
  await using chat = await answering();
  const { api, channel } = chat;
  const folder = mkdtempSync(join(tmpdir(), 'telegram-files-'));
  const attachments = ['one', 'two'].map((name) => {
    writeFileSync(join(folder, name), name);
    return { path: join(folder, name), name, sizeBytes: 3 };
  });
  api.failNext('sendDocument', { error_code: 400, description: 'Bad Request: later' }, 1);
  const message = { id: 'again', jid: JID, text: 'both', attachments };
  await expect(channel.send(message)).rejects.toMatchObject({ code: 'REFUSED' });
  await channel.send(message);
  rmSync(folder, { recursive: true });
  expect(api.sent.map(({ text, file }) => file?.name ?? text)).toEqual(['both', 'one', 'two']);
});

test.concurrent('a line of progress takes the place of the one before; what cannot be edited is said again', async () => {
  await using chat = await answering();
  const { api, channel } = chat;
  await channel.send({ id: 'p1', jid: JID, text: '… one' });
  const [first] = api.sent;
  const edit = { jid: JID, text: '… one\n**two**', replaces: 'p1' };
  await channel.send({ id: 'p2', ...edit });
  expect(api.sent).toMatchObject([{ message_id: first?.message_id, text: '… one\ntwo' }]);
  // The same once more, as after an answer that was lost.
  await channel.send({ id: 'p2', ...edit });
  await channel.send({ id: 'p3', jid: JID, text: '… three', replaces: 'p2' });
  expect(api.sent.map(({ text }) => text)).toEqual(['… three']);
  api.sent.length = 0;
  await channel.send({ id: 'p4', jid: JID, text: '… four', replaces: 'p3' });
  await channel.send({ id: 'p5', jid: JID, text: '… five', replaces: 'of another process' });
  expect(api.sent.map(({ text }) => text)).toEqual(['… four', '… five']);
});

test.concurrent('an emoji is put on the message; one that Telegram does not take there answers it', async () => {
  await using chat = await answering();
  const { api, channel } = chat;
  const reactsTo = { id: '1', sender: '10011', text: 'hello' };
  await channel.send({ id: 'r1', jid: JID, text: '👍', reactsTo });
  expect([...api.reactions]).toEqual([[1, [{ type: 'emoji', emoji: '👍' }]]]);
  expect(api.sent).toEqual([]);
  await channel.send({ id: 'r2', jid: JID, text: '🦥', reactsTo });
  expect(api.sent).toMatchObject([{ text: '🦥', replyTo: 1 }]);
});

test.concurrent('a group that became a supergroup goes on there, by the error as by the update', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { channel, host } = connected;
  api.sendText(ADA, { id: -77, type: 'group', title: 'Family' }, 'hello');
  api.sendText(ADA, { id: -10_077, type: 'supergroup', title: 'Family' }, 'here');
  await api.until(() => host.messages.length === 2);
  api.migrated.set(-77, -10_077);
  await channel.send({ id: 'a', jid: 'telegram:-77', text: 'the answer' });
  expect(api.sent).toMatchObject([{ chatId: -10_077, text: 'the answer' }]);
  const moved = { from: 'telegram:-77', to: 'telegram:-10077', options: { countsAnew: true } };
  expect(host.told).toContainEqual({ kind: 'same-chat', ...moved });
});

test.concurrent('an answer to a topic that is gone goes to the group at once, with its files', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { channel, host } = connected;
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => host.messages.length === 1);
  api.goneTopics.add(7);
  const folder = mkdtempSync(join(tmpdir(), 'claw-topic-'));
  const path = join(folder, 'a.txt');
  writeFileSync(path, 'a');
  const attachments = [{ path, name: 'a.txt', sizeBytes: 1 }];
  await channel.send({ id: 'a', jid: JID, text: 'the answer', thread: '7', attachments });
  rmSync(folder, { recursive: true });
  expect(api.sent.map(({ thread }) => thread)).toEqual([undefined, undefined]);
});
