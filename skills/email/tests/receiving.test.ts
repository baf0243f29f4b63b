import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  ADA,
  connectChannel,
  EVE,
  inMemory,
  mail,
  openRecords,
  SIGNER,
  settingsOf,
} from './fixtures.ts';
import { MailServer } from './mail-server.ts';

const OK = `${SIGNER}; dmarc=pass header.from=example.com`;

test('mail that is forged, automatic, of a stranger or of its own is dropped with the reason; the next one arrives', async () => {
  await using server = await new MailServer().comeUp();
  await using connected = await connectChannel(settingsOf(server));
  const { host } = connected;
  server.deliver(mail({ results: null, text: 'forged' }));
  server.deliver(
    mail({
      results: `${SIGNER}; spf=fail`,
      headers: [`Authentication-Results: ${OK}`],
      text: 'forged',
    }),
  );
  server.deliver(mail({ headers: ['Auto-Submitted: auto-replied'], text: 'I am away' }));
  server.deliver(mail({ from: 'andy+family@example.org', text: 'it is me' }));
  server.deliver(mail({ from: EVE, text: 'let me in' }));
  server.deliver(mail({ text: 'hello' }));
  await host.until(() => host.messages.length > 0);
  expect(host.texts).toEqual(['hello']);
  expect(host.strangers).toEqual([EVE]);
  const log = JSON.stringify(host.log);
  for (const reason of [
    'did not confirm',
    'spf=fail',
    'auto-replied',
    'this account itself',
    'EMAIL_ALLOW_FROM',
  ]) {
    expect(log).toContain(reason);
  }
});

test('senders are checked unless the owner has switched that off, and without a name to check by nothing starts', async () => {
  await using server = await new MailServer().comeUp();
  const unnamed = { ...settingsOf(server), EMAIL_AUTHSERV_ID: '' };
  await using refused = await connectChannel(unnamed);
  expect(refused.channel.status()).toMatchObject({
    state: 'refused',
    detail: expect.stringContaining('EMAIL_AUTHSERV_ID'),
  });
  await using open = await connectChannel({
    ...unnamed,
    EMAIL_AUTHENTICATION: 'off',
    EMAIL_ALLOW_FROM: '@example.com',
  });
  server.deliver(mail({ results: null, from: 'Bob <bob@example.com>' }));
  await open.host.until(() => open.host.messages.length > 0);
  expect(open.host.messages[0]).toMatchObject({
    sender: 'bob@example.com',
    senderName: 'Bob',
    isOwner: false,
  });
});

test('a plus-address is a group, whose answers go to all in it; the subject is said once in a thread', async () => {
  await using server = await new MailServer().comeUp();
  const env = { ...settingsOf(server), EMAIL_ALLOW_FROM: `${ADA}, bob@example.com` };
  await using connected = await connectChannel(env);
  const { host, channel } = connected;
  const to = 'andy+family@example.org, bob@example.com, eve@example.net';
  server.deliver(
    mail({ to, id: '<one@example.com>', headers: ['Subject: Lunch'], text: 'Where?' }),
  );
  await host.until(() => host.messages.length === 1);
  expect(host.messages[0]).toMatchObject({
    jid: 'email:+family',
    chatName: 'family',
    isDirect: false,
    mentionsAssistant: true,
    text: 'Subject: Lunch\n\nWhere?',
    ownWords: 'Where?',
    thread: '<one@example.com>',
  });
  const id = host.messages[0]?.id ?? '';
  await channel.send({ id: 'm1', jid: 'email:+family', text: 'Here.', answersTo: [id] });
  expect(server.posted[0]).toMatchObject({
    from: 'andy+family@example.org',
    to: [ADA, 'bob@example.com'],
  });
  const sent = /Message-ID: (<[^>]+>)/.exec(server.posted[0]?.source ?? '')?.[1] ?? '';
  const answer = [`In-Reply-To: ${sent}`, 'Subject: Re: Lunch'];
  server.deliver(
    mail({
      from: 'bob@example.com',
      to,
      headers: answer,
      text: 'Good.\n\nOn Monday Andy wrote:\n> Here.',
    }),
  );
  await host.until(() => host.messages.length === 2);
  expect(host.messages[1]).toMatchObject({
    text: 'Good.',
    thread: '<one@example.com>',
    sender: 'bob@example.com',
  });
});

test('a mailbox that is numbered anew loses nothing, and what comes again has the id that the host knows', async () => {
  await using server = await new MailServer().comeUp();
  const disk = inMemory();
  let known: string | undefined;
  const env = settingsOf(server);
  {
    await using first = await connectChannel(env, disk);
    server.deliver(mail({ text: 'one' }));
    await first.host.until(() => first.host.messages.length === 1);
    known = first.host.messages[0]?.id;
  }
  server.renumber();
  server.deliver(mail({ text: 'two' }));
  await using second = await connectChannel(env, disk);
  await second.host.until(() => second.host.texts.includes('two'));
  expect(second.host.messages).toMatchObject([{ text: 'one', id: known }, { text: 'two' }]);
});

test('a line that breaks while several mails are read loses none of them', async () => {
  await using server = await new MailServer().comeUp();
  const disk = inMemory();
  const env = settingsOf(server);
  await (await connectChannel(env, disk))[Symbol.asyncDispose]();
  const texts = ['one', 'two', 'three'];
  for (const text of texts) server.deliver(mail({ text }));
  server.cutsFetch = true;
  await using again = await connectChannel(env, disk);
  await again.host.until(() => again.host.messages.length === 3);
  expect(again.host.texts).toEqual(texts);
});

test('news is read by one command; mail after a gap in the numbers is found as well', async () => {
  await using server = await new MailServer().comeUp();
  const disk = inMemory();
  const env = settingsOf(server);
  {
    await using first = await connectChannel(env, disk);
    while (server.said.at(-1) !== 'IDLE') await setImmediate();
    const before = server.said.length;
    server.deliver(mail({ text: 'news' }));
    await first.host.until(() => first.host.messages.length === 1);
    expect(server.said.slice(before)).toEqual([expect.stringMatching(/^UID FETCH 1:50 /)]);
  }
  const gone = Array.from({ length: 120 }, () => server.deliver(mail({ text: 'gone' })));
  for (const uid of gone) server.expunge(uid);
  server.deliver(mail({ text: 'after the gap' }));
  await using second = await connectChannel(env, disk);
  await second.host.until(() => second.host.messages.length > 0);
  expect(second.host.texts).toEqual(['after the gap']);
});

test('without IDLE the mailbox is asked; a server without TLS gets no password', async () => {
  await using server = await new MailServer().comeUp();
  server.hasIdle = false;
  await using connected = await connectChannel(settingsOf(server));
  while (!server.said.includes('NOOP')) await setImmediate();
  server.deliver(mail({ text: 'asked for' }));
  await connected.host.until(() => connected.host.messages.length > 0);
  await using unknown = await connectChannel({ ...settingsOf(server), EMAIL_CA_FILE: '' });
  expect(unknown.channel.status().detail).toContain('EMAIL_CA_FILE');
});

test('files are fetched when they are asked for; of several the others come first', async () => {
  await using server = await new MailServer().comeUp();
  await using connected = await connectChannel(settingsOf(server));
  const { host, channel } = connected;
  const part = (type: string, text: string) => `--b\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`;
  const text = `\r\n${part('text/plain', 'two notes')}${part('text/plain\r\nContent-Disposition: attachment', 'first')}${part('text/plain\r\nContent-Disposition: attachment', 'second')}--b--\r\n`;
  const file = (name: string) =>
    `("TEXT" "PLAIN" ("NAME" "${name}") NIL NIL "7BIT" 6 1 NIL ("ATTACHMENT" ("FILENAME" "${name}")) NIL NIL)`;
  const structure = `(("TEXT" "PLAIN" NIL NIL NIL "7BIT" 9 1)${file('a.txt')}${file('b.txt')} "MIXED" ("BOUNDARY" "b") NIL NIL)`;
  server.deliver(mail({ headers: ['Content-Type: multipart/mixed; boundary=b'], text }), structure);
  await host.until(() => host.messages.length === 2);
  expect(host.messages).toMatchObject([
    { text: '', isContext: true, attachments: [{ name: 'b.txt' }] },
    { text: 'two notes', attachments: [{ name: 'a.txt', sizeBytes: 6 }] },
  ]);
  const [other, main] = host.messages;
  expect(await channel.fetchAttachment?.(main?.jid ?? '', main?.id ?? '')).toMatchObject({
    name: 'a.txt',
    sizeBytes: 5,
  });
  expect(await channel.fetchAttachment?.(other?.jid ?? '', other?.id ?? '')).toMatchObject({
    name: 'b.txt',
    sizeBytes: 6,
  });
  await expect(channel.fetchAttachment?.('email:x@y.z', 'nothing')).rejects.toThrow(
    'gone from the mailbox',
  );
});

test('two programs that answer each other stop', async () => {
  await using server = await new MailServer().comeUp();
  await using connected = await connectChannel(settingsOf(server));
  const { host, channel } = connected;
  const headers = ['References: <loop@example.com>', 'Subject: Re: loop'];
  for (let round = 0; round < 21; round += 1) {
    server.deliver(mail({ headers, text: `round ${round}` }));
    await host.until(() => host.messages.length === round + 1);
    const last = host.messages.at(-1);
    if (last?.isContext) break;
    await channel.send({
      id: `m${round}`,
      jid: `email:${ADA}`,
      text: 'again',
      answersTo: [last?.id ?? ''],
    });
  }
  expect(server.posted).toHaveLength(20);
  expect(host.messages.at(-1)).toMatchObject({ isContext: true });
});

test('two programs that begin a thread with each mail stop as well', async () => {
  await using server = await new MailServer().comeUp();
  const disk = inMemory();
  const records = openRecords(disk, Date.now);
  const jid = `email:${ADA}`;
  for (let round = 0; round < 60; round += 1) {
    const [id, thread] = [`m${round}`, `<t${round}@example.com>`];
    records.begin({ id, messageId: `<${id}@example.org>`, jid, thread });
    records.done(id);
  }
  await using connected = await connectChannel(settingsOf(server), disk);
  server.deliver(mail({ text: 'a thread of its own' }));
  await connected.host.until(() => connected.host.messages.length > 0);
  expect(connected.host.messages[0]).toMatchObject({ isContext: true });
});

test('an address that begins with a plus is a person, and no group', async () => {
  await using server = await new MailServer().comeUp();
  const env = { ...settingsOf(server), EMAIL_ALLOW_FROM: '@example.com' };
  await using connected = await connectChannel(env);
  const { host, channel } = connected;
  server.deliver(mail({ from: '+family@example.com' }));
  await host.until(() => host.messages.length > 0);
  const { jid = '', id = '' } = host.messages[0] ?? {};
  await channel.send({ id: 'm1', jid, text: 'Hello.', answersTo: [id] });
  expect(server.posted[0]).toMatchObject({ to: ['+family@example.com'] });
});
