import { expect, test, vi } from 'vitest';
import { devicesIn } from '../../../src/lib/chipclaw-settings.ts';
import { Device } from '../../../src/services/chipclaw/device.ts';
import { toolsOf } from '../../../src/services/chipclaw/device-tools.ts';
import { deviceFrameIn } from '../../../src/services/chipclaw/frames.ts';

const never = new AbortController().signal;
const TOOL = { name: 'gpio', description: 'a pin', parameters: { type: 'object' } };

/** A device at whose far end is the test. */
function bench() {
  const sent: Readonly<Record<string, unknown>>[] = [];
  const timers: (() => void)[] = [];
  let now = 1_000_000;
  let isPlugged = true;
  const device = new Device(
    { name: 'lamp', jid: 'mqtt:lamp' },
    {
      async send(_jid, body) {
        if (!isPlugged) throw new Error('The serial line is not there; nothing was sent.');
        sent.push(body);
      },
      setTimer(_ms, onElapsed) {
        timers.push(onElapsed);
        return () => {};
      },
      now: () => now,
      newId: () => `id-${sent.length}`,
      timeoutMs: 60_000,
    },
  );
  const say = (body: object): void => {
    const frame = deviceFrameIn(body);
    if (frame !== null) device.take(frame);
  };
  const hello = (link: string): void => say({ frame: 'hello', link, tools: [TOOL] });
  return {
    device,
    sent,
    timers,
    say,
    hello,
    wait: (ms: number) => {
      now += ms;
    },
    unplug: () => {
      isPlugged = false;
    },
    /** Calls, and resolves when the device has the call, with its answer underway. */
    async call(): Promise<{ readonly id: unknown; readonly answer: Promise<string> }> {
      const before = sent.length;
      const answer = device.call('gpio', { pin: 2 }, never).then(String, ({ message }) => message);
      await vi.waitFor(() => expect(sent.length).toBeGreaterThan(before));
      return { id: sent.at(-1)?.['id'], answer };
    },
  };
}

test('a device is there from its hello to its last will, and what it said of an earlier time counts for nothing', async () => {
  const { device, hello, say, sent, wait } = bench();
  await expect(device.call('gpio', {}, never)).rejects.toThrow('lamp is not connected.');
  say({ frame: 'alive', link: 'a' });
  expect(sent).toEqual([{ frame: 'who' }]);
  for (let count = 0; count < 100; count += 1) say({ frame: 'alive', link: 'a' });
  expect(sent).toHaveLength(1);
  hello('a');
  expect(device.present?.tools).toEqual([TOOL]);
  say({ frame: 'bye', link: 'older' });
  expect(device.present).not.toBeNull();
  say({ frame: 'bye', link: 'a' });
  expect(device.present).toBeNull();
  hello('b');
  wait(300_001);
  expect(device.present).toBeNull();
});

test('the first of two answers counts, and that of another call does not', async () => {
  const { hello, say, call } = bench();
  hello('a');
  const { id, answer } = await call();
  say({ frame: 'result', link: 'a', id: 'other', ok: true, value: 'wrong' });
  say({ frame: 'result', link: 'z', id, ok: true, value: 'of an earlier time' });
  say({ frame: 'result', link: 'a', id, ok: true, value: 'first' });
  say({ frame: 'result', link: 'a', id, ok: true, value: 'second' });
  expect(await answer).toBe('first');
  const next = await call();
  say({ frame: 'result', link: 'a', id, ok: true, value: 'late' });
  say({ frame: 'result', link: 'a', id: next.id, ok: false, value: 'no pin 2' });
  expect(await next.answer).toBe('lamp: no pin 2');
});

test('a call ends in words when the device starts anew, goes off, is unplugged, or does not answer', async () => {
  const { device, hello, say, call, timers, unplug } = bench();
  hello('a');
  const reboot = await call();
  hello('b');
  expect(await reboot.answer).toBe('lamp started anew in the middle of the call. It may have run.');
  const off = await call();
  say({ frame: 'bye', link: 'b' });
  expect(await off.answer).toContain('lamp went off in the middle of the call.');
  hello('c');
  const pulled = await call();
  device.gone('cannot be reached');
  expect(await pulled.answer).toContain('lamp cannot be reached in the middle of the call.');
  hello('d');
  const slow = await call();
  timers.at(-1)?.();
  expect(await slow.answer).toContain('lamp has not answered within 60 s.');
  unplug();
  await expect(device.call('gpio', {}, never)).rejects.toThrow('nothing was sent');
});

test('calls are one after the other, and one that was given up before its turn is never sent', async () => {
  const { device, hello, say, sent, call } = bench();
  hello('a');
  const first = await call();
  const stop = new AbortController();
  const second = device.call('gpio', {}, stop.signal);
  stop.abort();
  say({ frame: 'result', link: 'a', id: first.id, ok: true, value: 'done' });
  await expect(second).rejects.toThrow();
  expect(sent).toHaveLength(1);
});

test('garbage is no frame, and of a hello only tools that can be used are taken', () => {
  const garbage = [
    null,
    7,
    'x',
    {},
    { frame: 'who' },
    { frame: 'hello' },
    { frame: 'alive', link: 7 },
  ];
  expect(garbage.map(deviceFrameIn)).toEqual(garbage.map(() => null));
  const { device, say } = bench();
  const bad = [
    null,
    { ...TOOL, name: '../x' },
    { ...TOOL, parameters: { type: 'string' } },
    { ...TOOL, parameters: { type: 'object', x: 'y'.repeat(9_000) } },
  ];
  say({ frame: 'hello', link: 'a', tools: [...bad, TOOL] });
  expect(device.present?.tools).toEqual([TOOL]);
});

test('the list of devices: names and addresses, none of them twice', () => {
  expect(devicesIn('serial:uart_default')).toEqual([
    { name: 'device', jid: 'serial:uart_default' },
  ]);
  expect(devicesIn('lamp=mqtt:lamp, door=mqtt:door')).toHaveLength(2);
  for (const wrong of [
    'lamp',
    'mqtt:a,mqtt:b',
    'a=mqtt:x,b=mqtt:x',
    'Lamp=mqtt:x',
    'a=telegram:1',
  ]) {
    expect(devicesIn(wrong)).toBeNull();
  }
});

test('a device that announces a tool of the host’s does not take its place', () => {
  const { device, say } = bench();
  const named = ['push_file', 'gpio', 'reset', 'pull_file'].map((name) => ({ ...TOOL, name }));
  say({ frame: 'hello', link: 'a', tools: named });
  const tools = toolsOf(device, { isMainOnly: true }, async () => null);
  expect(tools.map(({ name }) => name)).toEqual([
    'lamp__gpio',
    'lamp__push_file',
    'lamp__pull_file',
    'lamp__reset',
  ]);
});
