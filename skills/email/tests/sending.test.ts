import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ADA, CA_FILE, connectChannel, inMemory, mail, sentParts, settingsOf } from './fixtures.ts';
import { MailServer } from './mail-server.ts';

const JID = `email:${ADA}`;

test('an answer is in its thread, says that a program wrote it, and carries the file', async () => {
  await using server = await new MailServer().comeUp();
  await using connected = await connectChannel(settingsOf(server));
  const { host, channel } = connected;
  expect(channel.capabilities?.attachments).toEqual({ maxBytes: 18_000_000 });
  const headers = ['Subject: Lunch', 'References: <zero@example.com>', 'Reply-To: eve@example.net'];
  server.deliver(mail({ id: '<one@example.com>', headers, text: 'Where?' }));
  await host.until(() => host.messages.length === 1);
  const path = `${CA_FILE}.txt`;
  writeFileSync(path, 'a map');
  const attachments = [{ path, name: 'map.txt', sizeBytes: 5 }];
  const answersTo = [host.messages[0]?.id ?? ''];
  await channel.send({
    id: 'm1',
    jid: JID,
    text: '**Here**, see the map.',
    answersTo,
    attachments,
  });
  const [posted] = server.posted;
  // Never where a Reply-To leads.
  expect(posted).toMatchObject({ from: 'andy@example.org', to: [ADA] });
  const { header, html, text } = sentParts(posted?.source ?? '');
  for (const line of [
    'Auto-Submitted: auto-replied',
    'In-Reply-To: <one@example.com>',
    'References: <zero@example.com> <one@example.com>',
    'Subject: Re: Lunch',
    'From: Andy <andy@example.org>',
  ]) {
    expect(header).toContain(line);
  }
  expect(html).toBe('<p><strong>Here</strong>, see the map.</p>');
  expect(text).toBe('Here, see the map.');
  expect(posted?.source).toContain('filename=map.txt');
});

test('progress is no mail; a person who is taken off the list gets none', async () => {
  await using server = await new MailServer().comeUp();
  await using connected = await connectChannel(settingsOf(server));
  const { channel } = connected;
  await channel.send({ id: 'm1', jid: JID, text: 'half done', isProgress: true });
  await expect(
    channel.send({ id: 'm2', jid: 'email:bob@example.com', text: 'hi' }),
  ).rejects.toThrow('EMAIL_ALLOW_FROM');
  expect(server.posted).toEqual([]);
});

test('a mail of which nobody knows whether it went out is looked for among those sent, and has the same id again', async () => {
  await using server = await new MailServer().comeUp();
  const disk = inMemory();
  const env = settingsOf(server);
  const message = { id: 'm1', jid: JID, text: 'Once.' };
  {
    await using first = await connectChannel(env, disk);
    server.nextAnswer = null;
    await expect(first.channel.send(message)).rejects.toMatchObject({ name: 'UnknownDelivery' });
  }
  const idOf = (at: number) =>
    /Message-ID: (<[^>]+>)/.exec(server.posted[at]?.source ?? '')?.[1] ?? '';
  {
    await using second = await connectChannel(env, disk);
    await second.channel.send(message);
    expect(server.posted).toHaveLength(2);
    expect(idOf(1)).toBe(idOf(0));
    server.nextAnswer = null;
    await expect(second.channel.send({ ...message, id: 'm2' })).rejects.toMatchObject({
      name: 'UnknownDelivery',
    });
  }
  server.sentFolder.push(idOf(2));
  await using third = await connectChannel(env, disk);
  await third.channel.send({ ...message, id: 'm2' });
  await third.channel.send(message);
  expect(server.posted).toHaveLength(3);
});

test('a server that refuses the password, or is not there, is said', async () => {
  await using server = await new MailServer().comeUp();
  await using connected = await connectChannel(settingsOf(server));
  const { channel } = connected;
  server.password = 'another';
  const refused = channel.send({ id: 'm1', jid: JID, text: 'hi' });
  await expect(refused).rejects.toThrow(/SMTP server .* refuses user and password/);
  await using away = await connectChannel({ ...settingsOf(server), EMAIL_SMTP: '127.0.0.1:1' });
  server.password = settingsOf(server)['EMAIL_PASSWORD'] ?? '';
  await using again = await connectChannel({ ...settingsOf(server), EMAIL_SMTP: '127.0.0.1:1' });
  await expect(again.channel.send({ id: 'm1', jid: JID, text: 'hi' })).rejects.toThrow(
    /cannot be used \(ECONNREFUSED: nothing listens there;/,
  );
  expect(away.channel.status().state).toBe('refused');
});
