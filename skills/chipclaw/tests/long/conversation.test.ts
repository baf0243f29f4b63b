import { expect, test } from 'vitest';
import { Board } from '../board.ts';
import { ModelServer } from '../model.ts';

// The device's own code, under MicroPython 1.27 compiled to WebAssembly; `requests` is that of micropython-lib.

test('a line on the serial line is answered by the model, and the conversation is on flash', async () => {
  await using model = await ModelServer.start('It is 21 degrees.', 'As I said, 21.');
  await using board = await Board.start({ config: { provider: model.provider } });

  expect(await board.ask('How warm is it?')).toBe('It is 21 degrees.');
  expect(JSON.parse(board.lines[0] ?? '')).toEqual({
    content: 'It is 21 degrees.',
    chat_id: 'uart_default',
  });
  expect(await board.ask('{"content": "Really?", "sender_id": "me"}')).toBe('As I said, 21.');

  const [first, second] = model.requests;
  expect(first).toMatchObject({ model: 'gpt-4', max_tokens: 4096, temperature: 0.7 });
  expect(model.headers[0]?.authorization).toBe('Bearer sk-board');
  expect(second?.messages.slice(1)).toEqual([
    { role: 'user', content: 'How warm is it?' },
    { role: 'assistant', content: 'It is 21 degrees.' },
    { role: 'user', content: 'Really?' },
  ]);
  const session = await board.file('/data/sessions/uart_uart_default.jsonl');
  expect(
    session
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).content),
  ).toEqual(['How warm is it?', 'It is 21 degrees.', 'Really?', 'As I said, 21.']);
});

test('the model switches the LED on by the tool gpio', async () => {
  const lamp = { pin: 2, mode: 'write', value: 1 };
  await using model = await ModelServer.start({ tool: 'gpio', arguments: lamp }, 'The LED is on.');
  await using board = await Board.start({ config: { provider: model.provider } });

  expect(await board.ask('LED on, please')).toBe('The LED is on.');
  expect(board.pins.get(2)).toBe(1);
  expect(JSON.parse(model.lastResult)).toEqual({ pin: 2, value: 1 });
});

test('the board programs itself: it writes a program, runs it, and keeps it', async () => {
  const program =
    'import machine\nmachine.Pin(5, machine.Pin.OUT).on()\nprint("blinked", __name__)\n';
  const run = 'exec(open(__workspace__ + "/programs/blink.py").read(), globals())';
  await using model = await ModelServer.start(
    { tool: 'write_file', arguments: { path: 'programs/blink.py', content: program } },
    { tool: 'exec_micropython', arguments: { code: run } },
    'It has blinked.',
  );
  await using board = await Board.start({ config: { provider: model.provider } });

  expect(await board.ask('Write a program that blinks, and run it')).toBe('It has blinked.');
  expect(model.lastResult).toContain('blinked');
  expect(board.pins.get(5)).toBe(1);
  expect(await board.file('/workspace/programs/blink.py')).toBe(program);
});
