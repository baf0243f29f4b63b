import { expect, test } from 'vitest';
import { Board } from '../board.ts';

const CONFIG = 'from chipclaw.config import Config';
const CONNECT = 'from chipclaw.config import Config\nfrom chipclaw.network import connect';

test('settings are laid over the defaults; a file that cannot be read leaves these', async () => {
  const config = { agent: { model: 'small' }, channels: { mqtt: { port: 0 } }, provider: 'wrong' };
  const files = { '/half.json': '{"agent":', '/list.json': '[]' };
  await using board = await Board.flash({ config, files });
  const read = `[
    c.get("agent", "model"), c.get("agent", "max_iterations"), c.get("channels", "mqtt", "port", default=7),
    c.get("channels", "uart", "tx_pin"), c.get("agent", "no", default="d"), c.get("provider", "api_key"),
    c.workspace, c.data_dir]`;
  const merged = ['small', 15, 0, 17, 'd', null, '/workspace', '/data'];
  expect(await board.value(read, `${CONFIG}\nc = Config()`)).toEqual(merged);

  for (const path of ['/half.json', '/list.json', '/none.json']) {
    expect(await board.value(`Config("${path}").get("agent", "model")`, CONFIG)).toBe('gpt-4');
  }
  expect(board.console).toEqual([
    expect.stringContaining('/half.json is no JSON: the defaults hold.'),
    expect.stringContaining('/list.json holds no object: the defaults hold.'),
    expect.stringContaining('There is no /none.json: the defaults hold.'),
  ]);
});

test('boot joins the network and sets the clock', async () => {
  await using board = await Board.flash({ config: { wifi: { ssid: 'home', password: 'secret' } } });
  await board.run('exec(open("/boot.py").read())');
  expect(board.console.join('\n')).toMatch(/Wi-Fi connected: 192.168.1.77\n.*The clock is set: 20/);
});

test('boot goes on without a network, and says what is missing', async () => {
  const wifi = { ssid: 'home', password: 'guess', timeout_s: 0 };
  await using board = await Board.flash({ config: { wifi }, files: { '/unset.json': '{}' } });
  expect(await board.value('connect(Config())', CONNECT)).toBe(false);
  expect(await board.value('connect(Config("/unset.json"))', CONNECT)).toBe(false);
  expect(board.console).toEqual([
    expect.stringContaining('No Wi-Fi yet. Look at wifi.ssid and wifi.password.'),
    expect.stringContaining('No Wi-Fi is set.'),
  ]);
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
