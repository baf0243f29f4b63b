import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeStarters } from '../../../src/setup/persona/starters.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { lastToolResults, lastUserText } from '../../../src/testing/model/anthropic.ts';
import { sandboxProject } from '../../../src/testing/sandbox-project.ts';

await describeWithEngine('bubblewrap', 'a persona in the container', () => {
  test('the first conversation is shown in the owner’s chat, and ended there by the agent', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script(request) {
        const results = lastToolResults(request);
        if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
        if (lastUserText(request) !== 'enough') return [{ type: 'text', text: 'Hello!' }];
        return [{ type: 'tool_use', name: 'finish_bootstrap', input: {} }];
      },
    });
    mkdirSync(join(project.dir, 'groups/main'), { recursive: true });
    writeStarters(project.dir, false);
    const prompt = () => {
      const { system = '' } = project.server.requests.at(-1)?.body ?? {};
      return typeof system === 'string' ? system : system.map(({ text }) => text).join('\n');
    };
    const main = { folder: 'main', isMain: true };
    await project.answer('hi', main);
    expect(prompt()).toContain('[/workspace/global/SOUL.md]\n\n# Soul');
    expect(prompt()).toContain('What shall I call you');
    expect(await project.answer('enough', main)).toBe('BOOTSTRAP.md is gone.');
    expect(existsSync(join(project.dir, 'groups/main/BOOTSTRAP.md'))).toBe(false);
    await project.answer('hi', main);
    expect(prompt()).not.toContain('What shall I call you');
  });
});
