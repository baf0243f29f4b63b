import { expect, test } from 'vitest';
import { openModels } from '../../../src/model/model.ts';
import { discoverProviders } from '../../../src/model/provider.ts';
import type { TokenCounts } from '../../../src/model/tokens.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { sandboxProject } from '../../../src/testing/sandbox-project.ts';
import { startTongue } from './servers.ts';
import { SETTINGS } from './settings.ts';
import { TONGUES, tongueOf } from './tongues.ts';

/** Tokens written in each of the two calls of a turn, where a provider tells them otherwise than most. */
const THINKERS: readonly string[] = ['gemini', 'xai'];

await describeWithEngine('bubblewrap', 'a turn with calls of tools', () => {
  test('goes through with every provider, streamed, and is charged as its server counts', async () => {
    const providers = await discoverProviders();
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    let session: string | null = null;
    for (const [name, tongue] of Object.entries(TONGUES)) {
      await using server = await startTongue(tongue);
      const environment = {
        [`${SETTINGS[name]}_API_KEY`]: 'k-1',
        [`${SETTINGS[name]}_BASE_URL`]: server.url,
      };
      const settings = { model: `${name}/m`, modelContext: null, modelPrice: null };
      const { configured } = openModels(providers, environment, { settings });
      if (configured === null) throw new Error(`${name} is not there`);
      const texts: string[] = [];
      const charges: (TokenCounts | null)[] = [];
      const outcome = await project.sandbox.runTurn(
        {
          id: `turn-${name}`,
          folder: 'family',
          isMain: false,
          // The conversation goes on from provider to provider, with the calls of all before.
          session,
          models: [configured],
          system: 'You are Andy.',
          prompt: `What is 6 * 7, ${name}?`,
          tools: [],
        },
        {
          onText: (delta) => void texts.push(delta),
          onTool: async () => ({ ok: false, value: 'none' }),
          onModelCall: async () => ({
            kind: 'admitted',
            charge: (counts) => void charges.push(counts),
          }),
        },
      );
      expect(outcome, `${name}: ${JSON.stringify(outcome)}`).toMatchObject({ kind: 'answered' });
      if (outcome.kind !== 'answered') return;
      session = outcome.session;
      expect(outcome.text, name).toMatch(/It is 42\n.* and second\n.*, über alles 好$/);
      expect(texts.length, name).toBeGreaterThan(1);
      expect(server.asked, name).toHaveLength(2);
      expect(server.headers.every(({ authorization }) => authorization === 'Bearer k-1')).toBe(
        true,
      );
      const outputTokens = THINKERS.includes(name) ? 50 : 20;
      const cacheReadTokens = name === 'deepseek' ? 64 : 0;
      if (name !== 'local') {
        expect(charges, name).toEqual(
          [1, 2].map(() => ({
            inputTokens: 100 - cacheReadTokens,
            cacheWriteTokens: 0,
            cacheReadTokens,
            outputTokens,
          })),
        );
      }
    }
  });

  test('ends with a line where a server streams garbage, half a call, or a call without a name', async () => {
    const providers = await discoverProviders();
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    const usual = tongueOf('local');
    const cut = (fields: object, finish: string | null) => ({
      choices: [{ index: 0, delta: fields, finish_reason: finish }],
    });
    const half = {
      index: 0,
      id: 'c',
      type: 'function',
      function: { name: 'shell', arguments: '{"comm' },
    };
    const nameless = { index: 0, id: 'c', type: 'function', function: { arguments: '{}' } };
    const cases: readonly [string, readonly unknown[], RegExp][] = [
      ['garbage', ['nonsense', { choices: 7 }], /could not be read/],
      ['half', [cut({ tool_calls: [half] }, 'tool_calls')], /It is .*(Invalid|invalid)/],
      ['nameless', [cut({ tool_calls: [nameless] }, 'tool_calls')], /could not be read/],
      [
        'flood',
        usual.calls(Array<string>(5_000).fill('{"command":"true"}')),
        /more than 128 tools/,
      ],
      [
        'flood of begun calls',
        Array.from({ length: 500 }, (_, index) =>
          cut({ tool_calls: [{ ...half, index, id: `c${index}` }] }, null),
        ),
        /more than 128 tools/,
      ],
      ['nothing', [], /ended before it was done/],
      // Longer than any frame: it is named, and not repeated.
      [
        'wrong',
        [cut({ content: { a: 'x'.repeat(2_000_000) } }, null)],
        /could not be read.{1,300}$/,
      ],
    ];
    for (const [name, chunks, expected] of cases) {
      await using server = await startTongue({ ...usual, calls: () => chunks });
      const settings = { model: 'local/m', modelContext: null, modelPrice: null };
      const { configured } = openModels(providers, { LOCAL_BASE_URL: server.url }, { settings });
      if (configured === null) throw new Error('local is not there');
      const outcome = await project.sandbox.runTurn(
        {
          id: `turn-${name}`,
          folder: 'family',
          isMain: false,
          session: null,
          models: [configured],
          system: 'You are Andy.',
          prompt: 'What is 6 * 7?',
          tools: [],
        },
        { onTool: async () => ({ ok: false, value: 'none' }) },
      );
      const said = outcome.kind === 'answered' ? outcome.text : outcome.message;
      expect(said, name).toMatch(expected);
      expect(said.length, name).toBeLessThan(1_000);
    }
  });
});
