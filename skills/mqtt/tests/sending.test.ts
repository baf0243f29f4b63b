import type { Packet } from 'mqtt-packet';
import { expect, test } from 'vitest';
import { Broker } from './broker.ts';
import { connectChannel, inMemory } from './fixtures.ts';

const OUT = 'patchclaw/out';

test('an answer is JSON with content and chat_id, without the marks of Markdown', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  await connected.channel.send({ id: '1', jid: 'mqtt:garden', text: 'Turn **pin 2** on.' });
  expect(broker.textsOn(OUT)).toEqual(['{"content":"Turn pin 2 on.","chat_id":"garden"}']);
  expect(connected.channel.ownsJid('mqtt:garden')).toBe(true);
  expect(connected.channel.ownsJid('serial:garden')).toBe(false);
});

test('a long answer is several messages, in order', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url, { MQTT_MAX_CHARS: '100' });
  const text = Array.from({ length: 40 }, (_, at) => `word${at}`).join(' ');
  await connected.channel.send({ id: '1', jid: 'mqtt:garden', text });
  const contents = broker.textsOn(OUT).map((one) => JSON.parse(one).content as string);
  expect(contents.length).toBeGreaterThan(2);
  expect(contents.join(' ')).toBe(text);
});

// Each step of the exchange, at which the connection is lost.
test.each(['publish', 'pubrel'])(
  'an answer is published once, where the %s was lost',
  async (cmd) => {
    await using broker = await Broker.start();
    await using connected = await connectChannel(broker.url);
    const { channel, host } = connected;
    let losses = 1;
    broker.lose = (packet: Packet) => packet.cmd === cmd && losses-- > 0;
    const message = { id: '1', jid: 'mqtt:garden', text: 'once' };
    await expect(channel.send(message)).rejects.toThrow('closed the connection');
    await host.until(() => host.statuses.filter(({ state }) => state === 'connected').length === 2);
    await channel.send(message);
    await channel.send({ ...message, id: '2', text: 'next' });
    expect(broker.textsOn(OUT).map((one) => JSON.parse(one).content)).toEqual(['once', 'next']);
  },
);

test('a message that was on its way when the process was killed is finished by the next one, once', async () => {
  await using broker = await Broker.start();
  const disk = inMemory();
  const first = await connectChannel(broker.url, {}, disk);
  const message = { id: '1', jid: 'mqtt:garden', text: 'once' };
  // The broker has the message and is never told to pass it on: the line is dead from here.
  broker.lose = ({ cmd }: Packet) => cmd === 'pubrel' || cmd === 'connect';
  await expect(first.channel.send(message)).rejects.toThrow('closed the connection');
  await first.channel.disconnect();
  expect(broker.textsOn(OUT)).toEqual([]);
  broker.lose = () => false;
  await using second = await connectChannel(broker.url, {}, disk);
  await second.channel.send(message);
  await second.channel.send(message);
  expect(broker.textsOn(OUT)).toHaveLength(1);
});

test('a broker that has lost its sessions gets again what it had not passed on', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { channel, host } = connected;
  let losses = 1;
  broker.lose = ({ cmd }: Packet) => {
    if (cmd !== 'pubrel' || losses-- < 1) return false;
    broker.forget();
    return true;
  };
  const message = { id: '1', jid: 'mqtt:garden', text: 'once' };
  await expect(channel.send(message)).rejects.toThrow('closed');
  await host.until(() => host.statuses.filter(({ state }) => state === 'connected').length === 2);
  await channel.send(message);
  expect(broker.textsOn(OUT)).toHaveLength(1);
});

test('with MQTT_QOS=1 it is published so, and what is lost comes again as a repeat', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url, { MQTT_QOS: '1' });
  const { channel, host } = connected;
  let losses = 1;
  broker.lose = (packet: Packet) =>
    packet.cmd === 'publish' && packet.topic === OUT && losses-- > 0;
  const message = { id: '1', jid: 'mqtt:garden', text: 'hello' };
  await expect(channel.send(message)).rejects.toThrow('closed');
  await host.until(() => host.statuses.filter(({ state }) => state === 'connected').length === 2);
  await channel.send(message);
  const out = broker.received.filter(({ topic }) => topic === OUT);
  expect(out.map(({ qos, dup }) => [qos, dup])).toEqual([[1, true]]);
});
