import { expect, test } from 'vitest';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { HAS_PTY, LineServer, startPtyBoard } from './board.ts';
import { examination, setup } from './fixtures.ts';

const examine = (environment: Record<string, string>) =>
  examination.examine(examinedSettings(environment));

test('a line is opened before anything is written', async () => {
  await using server = await LineServer.start();
  const answers = ['fast', '115200', 'COM3', '/nowhere/tty', '/dev/null', server.url, ' ', 'esp32'];
  const { context, problems, written } = ownerAtKeyboard(answers);
  const { summary } = await setup.run({}, context);
  expect(problems).toEqual([
    expect.stringContaining('A speed is a number'),
    expect.stringContaining('Type a device'),
    expect.stringContaining('/nowhere/tty is not there'),
    expect.stringContaining('/dev/null is not a serial line'),
    expect.stringContaining('Write the sender_id'),
  ]);
  expect(written).toEqual({
    SERIAL_PORT: server.url,
    SERIAL_BAUD: '115200',
    SERIAL_ALLOW_FROM: 'esp32',
  });
  expect(summary).toContain('esp32 may write');
  expect(setup.currentState(written, '/nowhere')).toContain('115200 baud, and esp32 may write');
});

test('an owner who leaves has nothing written', async () => {
  const { context, written } = ownerAtKeyboard(['115200', '/nowhere/tty']);
  await expect(setup.run({}, context)).rejects.toThrow('left');
  await expect(setup.run({}, { ...context, args: ['--port'] })).rejects.toThrow('no options');
  expect(written).toEqual({});
});

test.skipIf(!HAS_PTY)('a speed that the line cannot have is told', async () => {
  const { path, unplug } = await startPtyBoard();
  const { context, problems, written } = ownerAtKeyboard(['12345', path, '115200']);
  await expect(setup.run({}, context)).rejects.toThrow('left');
  expect(problems).toEqual([
    expect.stringMatching(/cannot be set to 12345 baud/),
    expect.anything(),
  ]);
  expect(written).toEqual({});
  await unplug();
});

test('the doctor says what is there, and what to do where it is not', async () => {
  expect(await examine({})).toMatchObject([
    { ok: true, advice: expect.stringContaining('claw setup') },
  ]);
  expect(await examine({ SERIAL_PORT: '/nowhere/tty', SERIAL_ALLOW_FROM: 'esp32' })).toMatchObject([
    { ok: false, message: expect.stringContaining('is not there') },
  ]);
  expect(await examine({ SERIAL_PORT: '/dev/null' })).toMatchObject([
    { ok: true, message: expect.stringContaining('may be opened') },
    { ok: false, message: expect.stringContaining('SERIAL_ALLOW_FROM') },
  ]);
});
