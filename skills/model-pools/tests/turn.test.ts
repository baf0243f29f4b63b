import { expect, test } from 'vitest';
import { borrowed, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { startAnthropicServer } from '../../../src/testing/model/anthropic.ts';
import { startOpenAiServer } from '../../../src/testing/model/openai.ts';
import { sandboxProject } from '../../../src/testing/sandbox-project.ts';
import { isIdle } from '../../../src/testing/turn/tasks.ts';

await describeWithEngine('bubblewrap', 'a chat with pools and a real agent', () => {
  test('goes on with the next model, warns of a refused key, and without its proxy has no tools', async () => {
    await using sandbox = await sandboxProject({ engine: 'bubblewrap' });
    let refuses = true;
    const proxy = await startOpenAiServer(() =>
      refuses ? { status: 401, message: 'wrong key' } : 'from the proxy',
    );
    const direct = await startAnthropicServer(() => [{ type: 'text', text: 'from the other' }]);
    using project = new TestProject();
    const assistant = await project.start({
      environment: {
        MODEL_POOLS: 'smart=openai/large, anthropic/claude-test',
        MODEL_POOL_TYPE_HEADER: '*',
        MODEL_PROXY: 'openai/',
        OPENAI_API_KEY: 'o',
        OPENAI_BASE_URL: `${proxy.url}/v1`,
        ANTHROPIC_BASE_URL: direct.url,
      },
      over: { sandbox: borrowed(sandbox.sandbox) },
    });
    const say = async (text: string) => {
      const before = assistant.terminal.sent.length;
      await assistant.terminal.say(text);
      await isIdle(assistant);
      return textsOf(assistant.terminal).slice(before);
    };
    const first = await say('hello');
    expect(first).toContain('from the other');
    expect(first.join()).toMatch(
      /refused the API key \(401\).*other models answer in place of those of openai/,
    );
    expect(direct.requests[0]?.body.tools).not.toHaveLength(0);
    expect(direct.requests[0]?.body).not.toMatchObject({ tool_choice: { type: 'none' } });
    expect(direct.requests[0]?.headers['x-task-type']).toBe('chat');

    expect((await say('/model')).join()).toContain(
      'Asked in turn here: `openai/large`, `anthropic/claude-test`.',
    );

    // Said once, and not at each turn.
    expect(await say('once more')).toEqual(['from the other']);

    refuses = false;
    expect(await say('again')).toEqual(['from the proxy']);

    await proxy.close();
    const [answer = ''] = await say('and now?');
    expect(answer).toMatch(
      /^\(The model proxy cannot be reached, so tools are off.*from the other$/s,
    );
    // The declarations stay for the calls in the conversation; none can be made.
    expect(direct.requests.at(-1)?.body).toMatchObject({ tool_choice: { type: 'none' } });
    expect(await say('still?')).toEqual(['from the other']);
    expect(direct.requests.at(-1)?.body.tools ?? []).toEqual([]);
    await assistant.stop();
    await direct.close();
  });
});
