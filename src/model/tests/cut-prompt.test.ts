import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { openProxy } from '../../testing/model/model-proxy.ts';
import { testModel } from '../../testing/model/test-model.ts';

const prose = 'The ferry leaves at nine, and the museum opens an hour after it. '.repeat(900);
const code = 'if (rows[i]?.id !== null) { out.push({ k: rows[i].id, v: f(x) }); }\n'.repeat(900);
const table = `${' '.repeat(60)}|${'-'.repeat(60)}\n`.repeat(400);
const picture = {
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${'iVBORw0K'.repeat(50_000)}` },
};

test.each([
  ['prose in a window of 4,096 tokens', prose, 4_094, true],
  ['code in a window of 4,096 tokens', code, 4_096, true],
  ['prose, counted as it is', prose, 13_500, false],
  ['prose, by a tokenizer with long tokens', prose, 10_000, false],
  ['code, counted as it is', code, 20_000, false],
  ['indents and dashes, each row of them a token', table, 2_400, false],
  ['a picture, counted as 1,100 tokens', [picture], 1_100, false],
  ['a server that counts only what is not in its cache', prose, 40, false],
  ['a server that counts nothing', prose, null, false],
])('%s', async (_, content, counted, isCut) => {
  const server = createServer((_request, response) => {
    const usage = { prompt_tokens: counted, completion_tokens: 1 };
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' },
    ];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices, ...(counted === null ? {} : { usage }) }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await using proxy = await openProxy(`http://127.0.0.1:${port}/v1`, { provider: 'openai' });
  const messages = [{ role: 'user', content }];
  const body = { model: testModel({ provider: 'openai', baseUrl: '', key: '' }).name, messages };
  const { status } = await proxy.post('/v1/chat/completions', JSON.stringify(body));
  server.close();
  expect(status).toBe(200);
  expect(proxy.cuts.map(({ countedTokens }) => countedTokens)).toEqual(isCut ? [counted] : []);
});
