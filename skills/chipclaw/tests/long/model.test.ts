import { expect, test } from 'vitest';
import { Board } from '../board.ts';
import { completion, ModelServer } from '../model.ts';

test('the tools of a turn come to an end after fifteen rounds', async () => {
  await using model = await ModelServer.start({ tool: 'list_dir', arguments: {} });
  await using board = await Board.start({ config: { provider: model.provider } });
  expect(await board.ask('Look around')).toBe(
    'I stopped after 15 rounds of tools without an answer. Ask again to go on.',
  );
  expect(model.requests).toHaveLength(15);
});

test('what goes wrong at the model is the answer in words, and the next message is answered', async () => {
  await using model = await ModelServer.start(
    (_, response) => response.writeHead(401).end('{"error": "bad key"}'),
    (_, response) => response.writeHead(500).end('out of order'),
    (_, response) => response.end('<html>'),
    (_, response) => response.end('{"choices": []}'),
    (_, response) => response.end(`{"filler": "${'x'.repeat(60_000)}"}`),
    (_, response) => response.writeHead(307, { location: 'http://thief.example/' }).end(),
    (request) => request.socket.destroy(),
    (_, response) => response.writeHead(200, { 'content-length': '90' }).end('{"cho').destroy(),
    (_, response) => response.end(JSON.stringify(cut)),
    'Well again.',
  );
  const cut = { choices: [{ message: { content: 'Once upon' }, finish_reason: 'length' }] };
  await using board = await Board.start({ config: { provider: model.provider } });
  expect(await board.ask('1')).toContain('refuses the key (401). Look at provider.api_key');
  expect(await board.ask('2')).toBe('The model answered with the error 500: out of order');
  expect(await board.ask('3')).toContain("The model's answer is none: <html>");
  expect(await board.ask('4')).toContain("The model's answer is none");
  expect(await board.ask('5')).toContain('longer than 50 KB');
  expect(await board.ask('6')).toContain('it redirects to http://thief.example/');
  expect(await board.ask('7')).toContain('The model cannot be reached');
  expect(await board.ask('8')).toMatch(/cannot be reached|answer is none/);
  expect(await board.ask('9')).toContain('Once upon\n(The answer was cut');
  expect(await board.ask('10')).toBe('Well again.');
  const history = model.requests.at(-1)?.messages.map(({ content }) => content) ?? [];
  expect(history.slice(1)).toEqual(['9', expect.stringContaining('Once upon'), '10']);
});

test('a model that is busy is asked again after the time it names', async () => {
  await using model = await ModelServer.start(
    (_, response) => response.writeHead(429, { 'retry-after': '0' }).end(),
    'Now.',
    (_, response) => response.writeHead(429, { 'retry-after': '0' }).end('slow down'),
    (_, response) => response.writeHead(429).end('slow down'),
  );
  await using board = await Board.start({ config: { provider: model.provider } });
  expect(await board.ask('a')).toBe('Now.');
  expect(await board.ask('b')).toBe('The model answered with the error 429: slow down');
});

test('arguments that are no JSON are told to the model, and an answer in chunks is read', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'gpio', arguments: '{"pin":' } };
  const broken = { choices: [{ message: { content: null, tool_calls: [call] } }] };
  await using model = await ModelServer.start(
    (_, response) => response.end(JSON.stringify(broken)),
    (_, response) => {
      const body = JSON.stringify(completion('Grüße in Teilen.'));
      response.write(body.slice(0, 30));
      response.end(body.slice(30));
    },
  );
  await using board = await Board.start({ config: { provider: model.provider } });
  expect(await board.ask('Go')).toBe('Grüße in Teilen.');
  expect(model.lastResult).toBe('Error: the arguments are no JSON object');
});

test('lines that are no message are passed over: too long, no UTF-8, empty', async () => {
  await using model = await ModelServer.start('Yes.');
  await using board = await Board.start({ config: { provider: model.provider } });
  board.say(`${'x'.repeat(20_000)}\n\n  \n`);
  board.say(Uint8Array.from([0xff, 0xfe, 0x0a]));
  board.say('{"content": ""}\n{"content": "half');
  await board.until(() => board.console.some((line) => line.includes('no UTF-8')));
  expect(await board.ask(' a line"}')).toBe('Yes.');
  expect(model.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual(['half a line']);
  expect(board.console.join('\n')).toContain('A line of more than 8192 bytes is ignored.');
});
