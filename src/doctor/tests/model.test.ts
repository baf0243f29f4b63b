import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../store/store.ts';
import { examinedProject } from '../../testing/claw/examined-project.ts';
import { type AnthropicReply, startAnthropicServer } from '../../testing/model/anthropic.ts';
import { listOf, startOpenAiServer } from '../../testing/model/openai.ts';
import { TEST_KEY } from '../../testing/sandbox-project.ts';

const OK: AnthropicReply = [{ type: 'text', text: 'ok' }];

const project = examinedProject();

test.each<[string, AnthropicReply, RegExp]>([
  ['a wrong key', { kind: 'error', status: 401, message: `no ${TEST_KEY}` }, /refused the API key/],
  ['an unknown model', { kind: 'error', status: 404 }, /does not know "claude-sonnet-5-5"/],
  [
    'an empty account',
    { kind: 'error', status: 400, message: 'Your credit balance is too low' },
    /no credit left \(400\)/,
  ],
])('%s is told in a sentence, with the clock of the server', async (_, reply, message) => {
  const server = await startAnthropicServer(() => reply);
  const given = { env: { ANTHROPIC_BASE_URL: server.url }, online: true };
  expect(await project.found('model', given)).toMatchObject([
    { ok: false, message: expect.stringMatching(message) },
  ]);
  const [clock] = await project.found('clock', given);
  expect(clock).toMatchObject({ ok: true, message: expect.stringMatching(/clock is right$/) });
  await server.close();
});

test('a model that answers is well; a clock that is far off is not', async () => {
  const server = await startAnthropicServer(() => OK);
  const given = { env: { ANTHROPIC_BASE_URL: server.url }, online: true };
  const answered = expect.stringMatching(/^anthropic\/claude-sonnet-5-5 answered in \d\.\d s$/);
  expect(await project.found('model', given)).toMatchObject([{ ok: true, message: answered }]);
  expect(await project.found('clock', { ...given, now: Date.now() + 300_000 })).toMatchObject([
    { ok: true },
    { ok: false, message: expect.stringContaining('5 minutes fast') },
  ]);
  const zone = { env: { ...given.env, TZ: 'Asia/Kolkata' } };
  expect(await project.found('clock', zone)).toMatchObject([{ message: 'time zone Asia/Kolkata' }]);
  const asked = server.requests.length;
  expect(await project.found('model', { env: given.env })).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
  ]);
  expect(server.requests).toHaveLength(asked);
  await server.close();
  expect(await project.found('model', given)).toMatchObject([
    { ok: false, message: expect.stringContaining('nothing listens there') },
  ]);
});

test('a chosen model that is gone is named with its successor, one that cannot be asked with the reason', async () => {
  const server = await startOpenAiServer(() => 'ok', listOf('gpt-5', 'tiny'));
  const store = openStore({ path: join(project.data, 'claw.db'), now: 1 });
  const facts = { contextTokens: null, price: null };
  store.modelChoices.set(null, { name: 'openai/tiny', ...facts });
  store.modelChoices.set('club', { name: 'openai/gpt-4', ...facts });
  store.modelChoices.set('family', { name: 'acme/x', ...facts });
  store.close();
  const env = { MODEL: 'openai/gpt-5', OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'k' };
  const findings = await project.found('model', { env, online: true });
  await server.close();
  expect(findings).toMatchObject([
    { ok: true, message: expect.stringContaining('openai/gpt-5 answered') },
    { ok: true, message: 'all chats: openai/tiny' },
    {
      ok: false,
      message: 'the chat in groups/club: openai/gpt-4 is not in the list of its server',
      advice: expect.stringContaining('Its nearest successor there is openai/gpt-5.'),
    },
    { ok: false, message: expect.stringContaining('acme/x: No provider here has it.') },
  ]);
});
