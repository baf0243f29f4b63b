import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { lastToolResults, lastUserText } from '../../../src/testing/model/anthropic.ts';
import { sandboxProject } from '../../../src/testing/sandbox-project.ts';

await describeWithEngine('bubblewrap', 'notes in the container', () => {
  test('what is noted lies in the chat’s folder, is shown in the next turn, and is found', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script(request) {
        const results = lastToolResults(request);
        if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
        const [, name, input] = /^([a-z_]+) (\{.*\})$/s.exec(lastUserText(request)) ?? [];
        if (name === undefined || input === undefined) return [{ type: 'text', text: 'ok' }];
        return [{ type: 'tool_use', name, input: JSON.parse(input) }];
      },
    });
    const notes = {
      timeZone: 'Europe/Berlin',
      now: Date.UTC(2026, 10, 22, 13, 3),
      label: '[telegram / owner]',
    };
    const answer = (prompt: string) => project.answer(prompt, { sections: { notes } });
    await answer('note {"text":"Bob brings the key"}');
    const line = '- 14:03 [telegram / owner] Bob brings the key';
    const path = join(project.dir, 'groups/family/notes/2026-11-22.md');
    expect(readFileSync(path, 'utf8')).toBe(`${line}\n`);
    expect(await answer('search_notes {"query":"KEY bob"}')).toBe(
      `/workspace/group/notes/2026-11-22.md:1\n${line}`,
    );
    const { system = '' } = project.server.requests.at(-1)?.body ?? {};
    const prompt = typeof system === 'string' ? system : system.map(({ text }) => text).join('\n');
    expect(prompt).toContain(`## 2026-11-22\n\n${line}`);
    // The core's own memory is searched as well.
    await answer('remember {"text":"The key opens the shed"}');
    expect(await answer('search_notes {"query":"shed"}')).toContain('The key opens the shed');
  });
});
