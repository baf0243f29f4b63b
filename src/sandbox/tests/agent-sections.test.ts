import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { lastToolResults, lastUserText } from '../../testing/model/anthropic.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

const SHELF = `import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { defineSection } from '../prompt-section.ts';
export const section = defineSection({
  name: 'shelf',
  order: 750,
  facts: z.object({ label: z.string().default('none') }),
  create() {
    let turns = 0;
    return async ({ facts, places, tools, isLoop }) => {
      turns += 1;
      const read = await readFile(places.shared + '/shelf/a.md', 'utf8');
      const write = await writeFile(places.shared + '/shelf/b.md', '').catch((error) => error.code);
      return ['SHELF', facts.label, read, write, turns, tools.includes('shell'), isLoop].join(' ');
    };
  },
});`;
const BROKEN = `import { defineSection } from '../prompt-section.ts';
export const section = defineSection({
  name: 'broken', order: 760, create: () => async () => { throw new Error('no shelf\\nat all'); },
});`;
const DELEGATE = `import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
export const tool = defineTool({
  name: 'delegate', description: 'Lets a helper do it.', input: z.object({}),
  run: async (_, { runLoop }) => await runLoop({ prompt: 'help', tools: [] }),
});`;

await describeWithEngine('bubblewrap', 'a section of the prompt that the container writes', () => {
  test('stands after the place of work, keeps what it read, and reads what all groups share', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      files: {
        'container/agent/prompt/shelf.ts': SHELF,
        'container/agent/prompt/broken.ts': BROKEN,
        'container/agent/tools/delegate.ts': DELEGATE,
      },
      script(request) {
        const results = lastToolResults(request);
        if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
        if (lastUserText(request) !== 'delegate') return [{ type: 'text', text: 'ok' }];
        return [{ type: 'tool_use', name: 'delegate', input: {} }];
      },
    });
    await mkdir(join(project.dir, 'container/shared/shelf'), { recursive: true });
    await writeFile(join(project.dir, 'container/shared/shelf/a.md'), 'rules');
    const prompts = () =>
      project.server.requests.map(({ body: { system = '' } }) =>
        typeof system === 'string' ? system : system.map(({ text }) => text).join('\n'),
      );

    await project.answer('hello', { sections: { shelf: { label: 'books' } } });
    const [first = ''] = prompts();
    expect(first).toContain(
      'SHELF books rules EROFS 1 true false\n\n(The section broken cannot be shown: no shelf)\n\n# What you remember',
    );
    await project.answer('delegate');
    const [, second, loop] = prompts();
    expect(second).toContain('SHELF none rules EROFS 2 true false');
    expect(loop).toContain('You work on one part of a larger task');
    expect(loop).toContain('SHELF none rules EROFS 3 false true');
    expect(loop).not.toContain('What you remember');
  });
});
