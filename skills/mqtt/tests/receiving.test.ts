import type { Packet } from 'mqtt-packet';
import { expect, test } from 'vitest';
import { Broker } from './broker.ts';
import { connectChannel, inMemory } from './fixtures.ts';

const IN = 'patchclaw/in';

test('a message names its sender and its chat; without them it is from unknown, in the chat of its topic', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { host } = connected;
  broker.say(IN, { content: 'it is wet', sender_id: 'esp32', chat_id: 'garden' });
  broker.say(IN, { content: 'hello' }, { qos: 0 });
  await host.until(() => host.messages.length === 2);
  expect(host.messages).toMatchObject([
    { jid: 'mqtt:garden', chatName: 'garden', sender: 'esp32', text: 'it is wet', isDirect: true },
    { jid: 'mqtt:patchclaw/in', sender: 'unknown', text: 'hello', isOwner: false },
  ]);
  await broker.until(() => broker.acknowledged === 1);
});

test('a topic of the map is a chat of its own, which no message elsewhere can name', async () => {
  await using broker = await Broker.start();
  const env = { MQTT_TOPICS: 'kitchen=k/ask>k/say, desk=d/ask>d/say' };
  await using connected = await connectChannel(broker.url, env);
  const { host, channel } = connected;
  broker.say('k/ask', { content: 'a', chat_id: 'desk' });
  broker.say('d/ask', { content: 'b' });
  broker.say(IN, { content: 'I am the kitchen', chat_id: 'kitchen' });
  broker.say(IN, { content: 'c' });
  await host.until(() => host.messages.length === 3);
  expect(host.messages.map(({ jid, text }) => [jid, text])).toEqual([
    ['mqtt:kitchen', 'a'],
    ['mqtt:desk', 'b'],
    ['mqtt:patchclaw/in', 'c'],
  ]);
  await channel.send({ id: '1', jid: 'mqtt:desk', text: 'yes' });
  expect(broker.textsOn('d/say')).toEqual(['{"content":"yes","chat_id":"desk"}']);
});

test('while a message is stored the broker still has it; the next one comes after that', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { host } = connected;
  const { promise: stored, resolve: finish } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const store = host.onMessage;
  host.onMessage = async (message) => {
    begin();
    await stored;
    await store(message);
  };
  broker.say(IN, { content: 'one' });
  broker.say(IN, { content: 'two' });
  await begun;
  expect(broker.acknowledged).toBe(0);
  finish();
  await broker.until(() => broker.acknowledged === 2);
  expect(host.texts).toEqual(['one', 'two']);
});

test('what could not be stored is tried again, and is acknowledged once it is stored', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { host } = connected;
  const store = host.onMessage;
  let failures = 3;
  host.onMessage = async (message) => {
    failures -= 1;
    if (failures >= 0) throw new Error('disk full');
    await store(message);
  };
  broker.say(IN, { content: 'one' });
  await broker.until(() => broker.acknowledged === 1);
  expect(host.texts).toEqual(['one']);
  expect(host.log[0]).toMatchObject({ data: { cause: 'disk full' } });
});

test('a message whose acknowledgement was lost comes again, and is the same message', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { host } = connected;
  let losses = 1;
  broker.lose = ({ cmd }: Packet) => cmd === 'puback' && losses-- > 0;
  broker.say(IN, { content: 'ping' });
  await broker.until(() => broker.acknowledged === 1);
  broker.say(IN, { content: 'ping' });
  await broker.until(() => broker.acknowledged === 2);
  // The host stores a message of a known id once.
  expect(host.texts).toEqual(['ping', 'ping', 'ping']);
  const [first, repeat, second] = host.messages.map(({ id }) => id);
  expect(repeat).toBe(first);
  expect(second).not.toBe(first);
});

test('a repeat reaches the next process, which knows it; a new session begins with new numbers', async () => {
  await using broker = await Broker.start();
  const disk = inMemory();
  const first = await connectChannel(broker.url, {}, disk);
  broker.lose = ({ cmd }: Packet) => cmd === 'puback';
  broker.say(IN, { content: 'ping' });
  await first.host.until(() => first.host.messages.length > 0);
  await first.channel.disconnect();
  broker.lose = () => false;
  await using second = await connectChannel(broker.url, {}, disk);
  await broker.until(() => broker.acknowledged === 1);
  const { host } = second;
  expect(host.messages.at(-1)?.id).toBe(first.host.messages[0]?.id);
  broker.forget();
  await host.until(() => host.statuses.filter(({ state }) => state === 'connected').length === 2);
  broker.say(IN, { content: 'ping' });
  await broker.until(() => broker.acknowledged === 2);
  expect(host.messages.at(-1)?.id).not.toBe(first.host.messages[0]?.id);
});

test('with an id of the device a message that it publishes twice is the same message', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { host } = connected;
  broker.say(IN, { content: 'a', id: 7, sender_id: 'esp32' });
  broker.say(IN, { content: 'a', id: 7, sender_id: 'esp32' });
  broker.say(IN, { content: 'a', id: 7 });
  await host.until(() => host.messages.length === 3);
  const [first, second, other] = host.messages.map(({ id }) => id);
  expect(second).toBe(first);
  expect(other).not.toBe(first);
});

test('what was said while the assistant was away comes when it is back', async () => {
  await using broker = await Broker.start();
  const disk = inMemory();
  const first = await connectChannel(broker.url, {}, disk);
  await first.channel.disconnect();
  broker.say(IN, { content: 'are you there?' });
  await using second = await connectChannel(broker.url, {}, disk);
  await second.host.until(() => second.host.messages.length === 1);
  expect(second.host.texts).toEqual(['are you there?']);
});

test('what is not a message is told in the log and acknowledged: it would come for ever', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { host } = connected;
  broker.say(IN, 'on');
  broker.say(IN, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
  broker.say(IN, Buffer.alloc(10_485_760, 'x'));
  broker.say(IN, { text: 'no content' });
  broker.say(IN, { content: 'bad chat', chat_id: 'a\u0000b' });
  broker.say(IN, { content: 'old' }, { retain: true });
  broker.say(IN, { content: '  ' });
  broker.say(IN, { content: 'hello' });
  await broker.until(() => broker.acknowledged === 8);
  expect(host.texts).toEqual(['hello']);
  const reasons = host.log.map(({ data }) => (data as { reason: string }).reason);
  expect(reasons).toEqual([
    'it is no JSON with "content"',
    'it is no UTF-8',
    expect.stringContaining('10485760 bytes'),
    'it is no JSON with "content"',
    expect.stringContaining('chat_id'),
    expect.stringContaining('retained'),
  ]);
});

test('a burst of messages stays in order and loses nothing', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { host } = connected;
  const texts = Array.from({ length: 300 }, (_, at) => `message ${at}`);
  for (const content of texts) broker.say(IN, { content });
  await broker.until(() => broker.acknowledged === 300);
  expect(host.texts).toEqual(texts);
  expect(new Set(host.messages.map(({ id }) => id)).size).toBe(300);
});

test('a frame goes to whoever takes frames, in the chat of its topic alone, and out on that of the chat', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url, { MQTT_TOPICS: 'lamp=l/out>l/in' });
  const { host, channel } = connected;
  host.takesFrames = true;
  const hello = { frame: 'hello', link: 'a', chat_id: 'other' };
  broker.say('l/out', { ...hello, sender_id: 'eve' });
  broker.say('l/out', hello);
  await host.until(() => host.frames.length === 1);
  expect(host.frames).toEqual([{ jid: 'mqtt:lamp', sender: 'unknown', body: hello }]);
  await channel.sendFrame?.('mqtt:lamp', { frame: 'who' });
  expect(broker.textsOn('l/in')).toEqual(['{"frame":"who"}']);
  host.takesFrames = false;
  broker.say('l/out', hello);
  await host.until(() => host.log.length === 2);
  expect(host.texts).toEqual([]);
});

test('an agent at the other end that answers each answer is not answered for ever', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url, { MQTT_TOPICS: 'lamp=l/out>l/in' });
  const { host, channel } = connected;
  let count = 0;
  host.onMessage = async () => {
    count += 1;
    const answer = { id: `m${count}`, jid: 'mqtt:lamp', text: 'and you?' };
    const reply = { content: `fine ${count}, and you?` };
    void channel.send(answer).then(() => broker.say('l/out', reply));
  };
  broker.say('l/out', { content: 'hello' });
  await host.until(() => host.log.length > 0);
  expect(count).toBe(31);
  expect(host.log).toMatchObject([{ data: { reason: expect.stringContaining('another agent') } }]);
  expect(host.notices).toEqual([expect.stringContaining('Another agent')]);
});
