import { expect, test } from 'vitest';
import { Board } from './board.ts';

const CONFIG = 'from chipclaw.config import Config';
const CONNECT = 'from chipclaw.config import Config\nfrom chipclaw.network import connect';

test('settings are laid over the defaults, and are read by their way', async () => {
  const config = { agent: { model: 'small' }, channels: { mqtt: { port: 0 } }, provider: 'wrong' };
  await using board = await Board.flash({ config });
  const read = `[
    c.get("agent", "model"), c.get("agent", "max_iterations"), c.get("channels", "mqtt", "port", default=7),
    c.get("channels", "uart", "tx_pin"), c.get("agent", "no", default="d"), c.get("provider", "api_key"),
    c.workspace, c.data_dir]`;
  expect(await board.value(read, `${CONFIG}\nc = Config()`)).toEqual([
    'small',
    15,
    0,
    17,
    'd',
    null,
    '/workspace',
    '/data',
  ]);
});

test.each([
  ['{"agent":', '/config.json is no JSON'],
  ['[]', '/config.json holds no object'],
])('settings that cannot be read leave the defaults: %s', async (config, said) => {
  await using board = await Board.flash({ config });
  expect(await board.value('Config().get("agent", "model")', CONFIG)).toBe('gpt-4');
  expect(board.console.join('\n')).toContain(said);
});

test('boot joins the network and sets the clock', async () => {
  await using board = await Board.flash({ config: { wifi: { ssid: 'home', password: 'secret' } } });
  await board.run('exec(open("/boot.py").read())');
  expect(board.console.join('\n')).toMatch(/Wi-Fi connected: 192.168.1.77\n.*The clock is set: 20/);
});

test('boot goes on without a network, and says what is missing', async () => {
  await using wrong = await Board.flash({
    config: { wifi: { ssid: 'home', password: 'guess', timeout_s: 0 } },
  });
  expect(await wrong.value('connect(Config())', CONNECT)).toBe(false);
  expect(wrong.console.join('\n')).toContain('No Wi-Fi yet. Look at wifi.ssid and wifi.password.');

  await using unset = await Board.flash();
  expect(await unset.value('connect(Config())', CONNECT)).toBe(false);
  expect(unset.console.join('\n')).toContain('No Wi-Fi is set.');
});

test('a PC without the modules machine and network says so, and stands', async () => {
  await using board = await Board.start({ without: ['machine', 'network'] });
  expect(await board.value('connect(Config())', CONNECT)).toBe(false);
  await board.until(() => board.console.length >= 2);
  expect(board.console).toEqual(
    expect.arrayContaining([
      '[chipclaw] This Python has no module machine: no serial line.',
      '[chipclaw] This Python has no module network: no Wi-Fi. The serial line works without.',
    ]),
  );
});
