import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { SetupContext } from '../../../src/setup/step.ts';
import { Broker } from './broker.ts';
import { mqttExamination, setup } from './fixtures.ts';

const USER = { name: 'andy', password: 'secret word' };

/** An owner at the keyboard: answers are taken in order, each as often as it takes to find one that fits. */
function owner(answers: readonly string[]) {
  const left = [...answers];
  const problems: string[] = [];
  const written: Record<string, string> = {};
  const context: SetupContext = {
    dataDir: '/nowhere/data',
    args: [],
    isInteractive: true,
    say: () => {},
    async ask({ check }) {
      for (let typed = left.shift(); typed !== undefined; typed = left.shift()) {
        const problem = await check(typed);
        if (problem === null) return typed;
        problems.push(problem);
      }
      throw new Error('the owner has left');
    },
    write: (values) => Object.assign(written, values),
    signal: new AbortController().signal,
  };
  return { context, problems, written };
}

const examine = (environment: Record<string, string>, isOffline = false) =>
  mqttExamination(isOffline ? 0 : 1_000).examine({
    projectDir: '/nowhere',
    dataDir: '/nowhere/data',
    homeDir: '/nowhere',
    environment,
    settings: null,
    isOffline,
    now: Date.now,
  });

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
  const { context, problems, written } = owner(answers);
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
  const { context, written } = owner([broker.url, 'a/in', 'a/out', '', 'esp32']);
  await setup.run({}, context);
  expect(written).toMatchObject({ MQTT_QOS: '1', MQTT_USERNAME: '', MQTT_PASSWORD: '' });
});

test('a user that the broker wants no more is taken out by -', async () => {
  await using broker = await Broker.start();
  const { context, written } = owner([broker.url, 'a/in', 'a/out', '-', 'esp32']);
  await setup.run({ MQTT_USERNAME: 'andy', MQTT_PASSWORD: USER.password }, context);
  expect(written).toMatchObject({ MQTT_USERNAME: '', MQTT_PASSWORD: '' });
});

test('where nothing listens nothing is written; nor where the owner leaves', async () => {
  const broker = await Broker.start({ user: USER });
  const { url } = broker;
  const gone = owner([url, 'a/in', 'a/out', 'andy', 'wrong']);
  await expect(setup.run({}, gone.context)).rejects.toThrow('left');
  await broker[Symbol.asyncDispose]();
  const open = owner([url]);
  // It is told at its question: the topics and the user are not asked for.
  await expect(setup.run({}, open.context)).rejects.toThrow('left');
  expect(open.problems).toEqual([
    expect.stringMatching(/cannot be reached \(ECONNREFUSED: nothing listens there\..*\)\.$/),
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
  const silent = createServer((socket) => onTestFinished(() => void socket.destroy()));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const MQTT_URL = `mqtt://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  expect(await examine({ MQTT_URL, MQTT_ALLOW_FROM: '*' })).toMatchObject([
    { ok: false, message: expect.stringContaining('said nothing for 1 s') },
  ]);
});
