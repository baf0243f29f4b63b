import { expect, test } from 'vitest';
import { startSilentServer } from '../../../src/testing/channel/far-server.ts';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { Broker } from './broker.ts';
import { mqttExamination, setup } from './fixtures.ts';

const USER = { name: 'andy', password: 'secret word' };

const examine = (environment: Record<string, string>, isOffline = false) =>
  mqttExamination(isOffline ? 0 : 1_000).examine(examinedSettings(environment, { isOffline }));

test('user and password are tried with the broker before anything is written', async () => {
  await using broker = await Broker.start({ user: USER });
  const topics = ['a/#', broker.url, 'a/in', 'a/in', 'a/out'];
  const answers = [
    'broker',
    `mqtt://${broker.url}`,
    broker.url,
    ...topics,
    'andy',
    'wrong',
    USER.password,
    '',
    'esp32',
  ];
  const { context, problems, written } = ownerAtKeyboard(answers);
  const outcome = await setup.run({}, context);
  expect(problems).toEqual([
    expect.stringContaining('mqtt://'),
    expect.stringContaining('begins with mqtt://'),
    expect.stringContaining('without + and #'),
    expect.stringContaining('That is an address'),
    expect.stringContaining('would answer itself'),
    expect.stringMatching(/refuses user and password\.$/),
    expect.stringContaining('Write the sender_id'),
  ]);
  expect(written).toEqual({
    MQTT_URL: broker.url,
    MQTT_TOPIC_IN: 'a/in',
    MQTT_TOPIC_OUT: 'a/out',
    MQTT_USERNAME: 'andy',
    MQTT_PASSWORD: USER.password,
    MQTT_QOS: '2',
    MQTT_ALLOW_FROM: 'esp32',
  });
  expect(JSON.stringify(outcome)).not.toContain(USER.password);
  expect(setup.currentState(written, '/nowhere')).toContain('a/in, and esp32 may write');
  // The running assistant has a session of another name, and its status is its own.
  expect(broker.clients.every((name) => name.startsWith('patchclaw-'))).toBe(true);
  expect(broker.retained.size).toBe(0);
});

test('a broker without QoS 2 gets QoS 1', async () => {
  await using broker = await Broker.start();
  broker.lose = (packet) => packet.cmd === 'publish' && packet.qos === 2;
  const { context, written } = ownerAtKeyboard([broker.url, 'a/in', 'a/out', '', 'esp32']);
  await setup.run({}, context);
  expect(written).toMatchObject({ MQTT_QOS: '1', MQTT_USERNAME: '', MQTT_PASSWORD: '' });
});

test('a user that the broker wants no more is taken out by -', async () => {
  await using broker = await Broker.start();
  const { context, written } = ownerAtKeyboard([broker.url, 'a/in', 'a/out', '-', 'esp32']);
  await setup.run({ MQTT_USERNAME: 'andy', MQTT_PASSWORD: USER.password }, context);
  expect(written).toMatchObject({ MQTT_USERNAME: '', MQTT_PASSWORD: '' });
});

test('where nothing listens nothing is written; nor where the owner leaves', async () => {
  const broker = await Broker.start({ user: USER });
  const { url } = broker;
  const gone = ownerAtKeyboard([url, 'a/in', 'a/out', 'andy', 'wrong']);
  await expect(setup.run({}, gone.context)).rejects.toThrow('left');
  await broker[Symbol.asyncDispose]();
  const open = ownerAtKeyboard([url]);
  // It is told at its question: the topics and the user are not asked for.
  await expect(setup.run({}, open.context)).rejects.toThrow('left');
  expect(open.problems).toEqual([
    expect.stringMatching(/cannot be reached \(ECONNREFUSED: nothing listens there;.*\)\.$/),
  ]);
  await expect(setup.run({}, { ...open.context, args: ['--url'] })).rejects.toThrow('no options');
  expect([gone.written, open.written]).toEqual([{}, {}]);
});

test('the doctor asks the broker, and says what is wrong', async () => {
  await using broker = await Broker.start({ user: USER });
  const env = { MQTT_URL: broker.url, MQTT_ALLOW_FROM: 'esp32', MQTT_USERNAME: 'andy' };
  expect(await examine({})).toMatchObject([
    { ok: true, advice: expect.stringContaining('npx claw setup mqtt') },
  ]);
  expect(await examine({ ...env, MQTT_PASSWORD: USER.password })).toMatchObject([
    { ok: true, message: expect.stringContaining('lets us in') },
  ]);
  expect(await examine({ ...env, MQTT_PASSWORD: 'wrong' })).toMatchObject([
    { ok: false, message: expect.stringContaining('refuses user and password') },
  ]);
  const asked = broker.clients.length;
  const far = {
    ...env,
    MQTT_URL: 'mqtt://broker.example',
    MQTT_PASSWORD: 'x',
    MQTT_ALLOW_FROM: '',
  };
  expect(await examine(far, true)).toMatchObject([
    { ok: true, message: 'a broker is set; it was not asked' },
    { ok: false, message: expect.stringContaining('MQTT_ALLOW_FROM') },
    { ok: true, message: expect.stringContaining('goes over the network as it is') },
  ]);
  expect(broker.clients).toHaveLength(asked);
});

test('something that listens and says nothing is told', async () => {
  await using silent = await startSilentServer();
  const MQTT_URL = `mqtt://${silent.host}`;
  expect(await examine({ MQTT_URL, MQTT_ALLOW_FROM: '*' })).toMatchObject([
    { ok: false, message: expect.stringContaining('said nothing for 1 s') },
  ]);
});
