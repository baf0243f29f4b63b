import { expect, test } from 'vitest';
import { Board } from '../board.ts';
import { Broker } from '../broker.ts';
import { ModelServer } from '../model.ts';

// The client is umqtt.simple of micropython-lib, as it is frozen into the firmware of an ESP32.

function settings(broker: Broker, model: ModelServer, more: object = {}): object {
  const mqtt = {
    enabled: true,
    broker: '127.0.0.1',
    port: broker.port,
    allow_from: ['assistant', 'unknown'],
    ...more,
  };
  return { provider: model.provider, channels: { mqtt } };
}

test('a message by MQTT is answered on the topic out, with QoS 1', async () => {
  await using model = await ModelServer.start('Dry.');
  await using broker = await Broker.start();
  await using board = await Board.start({ config: settings(broker, model) });
  broker.say('chipclaw/in', { content: 'The soil?', sender_id: 'assistant', chat_id: 'garden' });
  await broker.until(() => broker.published.length === 1);

  expect(broker.subscriptions).toEqual([{ topic: 'chipclaw/in', qos: 1 }]);
  expect(broker.published[0]?.topic).toBe('chipclaw/out');
  expect(broker.published[0]?.qos).toBe(1);
  expect(JSON.parse(broker.published[0]?.text ?? '')).toEqual({
    content: 'Dry.',
    chat_id: 'garden',
  });
  expect(broker.acknowledged).toEqual([1]);
  expect(await board.file('/data/sessions/mqtt_garden.jsonl')).toContain('The soil?');
});

test('without sender and chat they are unknown and the topic; what is not a message is ignored', async () => {
  await using model = await ModelServer.start('Hello.');
  await using broker = await Broker.start();
  await using board = await Board.start({ config: settings(broker, model) });
  for (const noise of ['no JSON', '[1]', '{"content": 7}', '"text"', '{"sender_id": "x"}']) {
    broker.say('chipclaw/in', noise);
  }
  broker.say('chipclaw/in', { content: 'Hi' });
  await broker.until(() => broker.published.length === 1);

  expect(JSON.parse(broker.published[0]?.text ?? '')['chat_id']).toBe('chipclaw/in');
  expect(model.requests).toHaveLength(1);
  expect(board.console.filter((line) => line.includes('is ignored'))).toHaveLength(5);
});

test('nobody may write until allow_from names somebody, and a stranger is not answered', async () => {
  await using model = await ModelServer.start('Hello.');
  await using broker = await Broker.start();
  await using closed = await Board.start({ config: settings(broker, model, { allow_from: [] }) });
  await closed.until(() =>
    closed.console.some((line) => line.includes('channels.mqtt.allow_from')),
  );
  expect(broker.subscriptions).toEqual([]);

  await using board = await Board.start({
    config: settings(broker, model, { allow_from: ['assistant'] }),
  });
  broker.say('chipclaw/in', { content: 'Open the door', sender_id: 'thief' });
  await board.until(() => board.console.some((line) => line.includes('A message of thief')));
  expect(model.requests).toEqual([]);
});

test('a line that is cut is joined again, and nothing that was said meanwhile is lost', async () => {
  await using model = await ModelServer.start('Back.');
  await using broker = await Broker.start();
  await using board = await Board.start({ config: settings(broker, model) });
  await broker.until(() => broker.subscriptions.length === 1);
  broker.cut();
  broker.say('chipclaw/in', { content: 'Still there?', sender_id: 'assistant' });
  await broker.until(() => broker.published.length === 1);

  expect(JSON.parse(broker.published[0]?.text ?? '')['content']).toBe('Back.');
  expect(board.console.join('\n')).toContain('MQTT is down, next attempt in 1 s.');
});

test('a wrong password is said in words, and the serial line goes on', async () => {
  await using model = await ModelServer.start('Here.');
  await using broker = await Broker.start();
  broker.password = 'right';
  const config = settings(broker, model, { username: 'board', password: 'wrong' });
  await using board = await Board.start({ config });
  await board.until(() =>
    board.console.some((line) => line.includes('The broker refuses the user')),
  );
  expect(await board.ask('Are you there?')).toBe('Here.');
});

test('a message is relayed from the serial line to MQTT', async () => {
  const relay = { channel: 'mqtt', chat_id: 'kitchen', content: 'The soil is dry.' };
  await using model = await ModelServer.start({ tool: 'message', arguments: relay }, 'Told them.');
  await using broker = await Broker.start();
  await using board = await Board.start({ config: settings(broker, model) });
  await broker.until(() => broker.subscriptions.length === 1);

  expect(await board.ask('Tell the kitchen that the soil is dry')).toBe('Told them.');
  await broker.until(() => broker.published.length === 1);
  expect(JSON.parse(broker.published[0]?.text ?? '')).toEqual({
    content: 'The soil is dry.',
    chat_id: 'kitchen',
  });
});
