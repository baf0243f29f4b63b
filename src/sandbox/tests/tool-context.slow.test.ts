import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { lastToolResults, lastUserText } from '../../testing/model/anthropic.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

const DELEGATE = `import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
export const tool = defineTool({
  name: 'delegate',
  description: 'Lets a helper do it.',
  input: z.object({ task: z.string(), tools: z.array(z.string()).optional() }),
  async run({ task, tools }, { runLoop }) {
    return 'The helper says: ' + (await runLoop({ prompt: task, tools }));
  },
});`;

const CONTEXT = `import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
export const tool = defineTool({
  name: 'context',
  description: 'Shows what a tool is given.',
  input: z.object({}),
  async run(_, context) {
    const wrong = await context.callHost('no_such_tool', {}).catch((error) => error.message);
    const time = await context.callHost('tide', { at: 'noon' });
    const facts = [context.factsOf('tides'), context.factsOf('none')];
    return JSON.stringify({ keys: Object.keys(context).sort(), folder: context.groupFolder, facts, time, wrong });
  },
});`;

const TIDE = { name: 'tide', description: 'Tells the tide.', inputSchema: { type: 'object' } };
const files = {
  'container/agent/tools/context.ts': CONTEXT,
  'container/agent/tools/delegate.ts': DELEGATE,
};

await describeWithEngine('bubblewrap', 'a tool of the agent’s own', () => {
  test('has its group’s folder and the host’s tools of the turn, and nothing else', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      files,
      tools: [TIDE],
      script(request) {
        const results = lastToolResults(request);
        if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
        return [{ type: 'tool_use', name: 'context', input: {} }];
      },
    });
    const calls: unknown[] = [];
    const onTool = async (call: { name: string; input: unknown }) => {
      calls.push([call.name, call.input]);
      return { ok: true, value: 'high' };
    };
    const sections = { tides: { port: 'Lisbon' } };
    expect(JSON.parse(await project.answer('show it', { onTool, sections }))).toEqual({
      keys: ['ask', 'callHost', 'factsOf', 'groupFolder', 'runLoop', 'shellTimeoutMs', 'signal'],
      facts: [{ port: 'Lisbon' }, {}],
      folder: '/workspace/group',
      time: 'high',
      wrong: 'The host has no tool no_such_tool in this turn.',
    });
    expect(calls).toEqual([['tide', { at: 'noon' }]]);
  });

  test('lets a loop of its own work within the turn: with its tools, on its bill, and not within another', async () => {
    const prompts: string[] = [];
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      files,
      tools: [TIDE],
      script(request) {
        const asked = lastUserText(request);
        const results = lastToolResults(request);
        if (results.length === 0) prompts.push(asked);
        if (results.length > 0) return [{ type: 'text', text: `Seen: ${results.join(' | ')}` }];
        if (asked.includes('look inside')) {
          return [
            { type: 'tool_use', name: 'shell', input: { command: 'echo inner' } },
            { type: 'tool_use', name: 'tide', input: {} },
          ];
        }
        if (asked.includes('delegate again')) {
          return [{ type: 'tool_use', name: 'delegate', input: { task: 'deeper' } }];
        }
        const tools = asked.includes('in vain') ? ['no_such_tool'] : undefined;
        return [
          { type: 'tool_use', name: 'delegate', input: { task: 'look inside', tools } },
          {
            type: 'tool_use',
            name: 'delegate',
            input: { task: 'delegate again', tools: ['delegate'] },
          },
        ];
      },
    });
    const onTool = async () => ({ ok: true, value: 'high' });
    const answer = await project.answer('go', { onTool });
    expect(answer).toContain('The helper says: Seen: inner\n[exit code 0] | high');
    expect(answer).toContain('A tool that is called within a loop cannot run one.');
    expect(prompts.toSorted()).toEqual(['delegate again', 'go', 'look inside']);
    // Two calls of the conversation and two of each loop, all within this turn.
    expect(project.charges).toHaveLength(6);
    const loop = project.server.requests.find(
      (request) => lastUserText(request) === 'look inside' && lastToolResults(request).length === 0,
    );
    expect(JSON.stringify(loop?.body.system)).toContain('You work on one part of a larger task');
    expect(JSON.stringify(loop?.body.messages)).not.toContain('"go"');
    const offered = loop?.body.tools?.map(({ name }) => name);
    expect(offered).toContain('tide');
    expect(offered).not.toContain('delegate');

    expect(await project.answer('in vain', { onTool })).toContain(
      'The turn has no tool no_such_tool.',
    );
  });

  test('is told why where the model does not answer its loop', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      files,
      script(request) {
        const results = lastToolResults(request);
        if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
        if (lastUserText(request) === 'fail') {
          return { kind: 'error', status: 400, message: 'no such thing' };
        }
        return [{ type: 'tool_use', name: 'delegate', input: { task: 'fail' } }];
      },
    });
    expect(await project.answer('go')).toContain('no such thing');
  });
});
