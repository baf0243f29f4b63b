import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { lastToolResults } from '../../testing/model/anthropic.ts';
import { startOpenAiServer } from '../../testing/model/openai.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { pdfOf } from '../../testing/pdf.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';
import { bundleAgent, SHARED } from './bundle.ts';

const GREET = `
  import { z } from 'zod';
  import { defineTool } from '../agent-tool.ts';
  export const tool = defineTool({
    name: 'greet',
    description: 'Greets.',
    input: z.object({ name: z.string() }),
    run: async ({ name }) => \`Good day, \${name}.\`,
  });
`;

await describeWithEngine('bubblewrap', "the agent's bundle", () => {
  test('has the tools that lie in its folder: adding one is adding a file', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      files: { 'container/agent/tools/greet.ts': GREET },
      script: ({ body }) =>
        body.messages.length === 1
          ? [{ type: 'tool_use', name: 'greet', input: { name: 'Ada' } }]
          : [{ type: 'text', text: JSON.stringify(body.messages.at(-1)?.content) }],
    });
    expect(await project.answer('greet me')).toContain('Good day, Ada.');
    const names = project.server.requests[0]?.body.tools?.map(({ name }) => name);
    expect(names?.toSorted()).toEqual([
      'edit_file',
      'greet',
      'list_files',
      'read_file',
      'remember',
      'shell',
      'write_file',
    ]);
  });

  test('reads files of other people in a process of its own, in the container', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script: (request) => {
        const [result] = lastToolResults(request);
        if (result !== undefined) return [{ type: 'text', text: result }];
        return [{ type: 'tool_use', name: 'read_file', input: { path: 'offer.pdf' } }];
      },
    });
    const pdf = pdfOf({ pages: ['Three apples'] });
    await writeFile(join(project.dir, 'groups/family/offer.pdf'), pdf);
    expect(await project.answer('read it')).toContain('Three apples');
  });

  test('is made once for the same sources, and again for others', async () => {
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    const { dir, dataDir } = project;
    const first = await bundleAgent(dir, dataDir);
    expect(await bundleAgent(dir, dataDir)).toBe(first);
    await writeFile(join(dir, 'container/agent/tools/greet.ts'), GREET);
    const second = await bundleAgent(dir, dataDir);
    expect(second).not.toBe(first);
    expect(await readdir(join(dataDir, 'cache'))).toEqual([second.split('/').at(-1)]);
    expect((await readFile(join(second, 'turns.mjs'))).length).toBeLessThan(2_000_000);
    // What stands between a container and its first frame.
    const start = await readFile(join(second, 'agent.mjs'), 'utf8');
    expect(start.length).toBeLessThan(5_000);
    expect(start).not.toContain('node:http');
  });

  test('that cannot be made leaves a host without agents, and says why', async () => {
    const files = { 'container/agent/tools/broken.ts': 'export const tool = {' };
    await expect(sandboxProject({ engine: 'bubblewrap', files })).rejects.toThrow(
      /cannot be built: .*tools\/broken\.ts:1/,
    );
  });

  test('speaks to an OpenAI-compatible server as well', async () => {
    const server = await startOpenAiServer(({ body }) => `heard ${body.messages.length} messages`);
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      model: testModel({
        provider: 'openai',
        name: 'gpt-test',
        baseUrl: `${server.url}/v1`,
        key: 'sk-o',
      }),
    });
    expect(await project.turn('hello')).toMatchObject({
      text: 'heard 2 messages',
    });
    expect(project.charges).toMatchObject([{ counts: { inputTokens: 30, outputTokens: 5 } }]);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer sk-o');
    await server.close();
  });
});

test('a change of any file that the agent shares with the host makes another bundle', async () => {
  const project = resolve(import.meta.dirname, '../../..');
  const folder = join(project, 'container/agent');
  const sources = (await readdir(folder, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  const imported = await Promise.all(
    sources.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      const found = [...text.matchAll(/from '((?:\.\.\/)+src\/[^']+)'/g)];
      return found.map(([, from = '']) =>
        relative(project, resolve(dirname(join(folder, name)), from)),
      );
    }),
  );
  const shared = new Set(imported.flat());
  expect(shared.size).toBeGreaterThan(3);
  expect([...shared].filter((path) => !SHARED.includes(path))).toEqual([]);
});
