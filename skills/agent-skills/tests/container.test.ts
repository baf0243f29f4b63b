import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { sandboxProject } from '../../../src/testing/sandbox-project.ts';

/** A folder as somebody else published it: nothing in it was written for this assistant. */
const THIRD_PARTY = {
  'SKILL.md': `\uFEFF---\r\nname: word-stats\r\ndescription: >-\r\n  Counts words.\r\n  Use when asked how long a text is.\r\nlicense: MIT\r\nallowed-tools: Bash Read\r\n---\r\n\r\nRun \`scripts/count.sh <file>\`. See [details](references/how.md).\r\n`,
  'references/how.md': 'Words are separated by spaces.\n',
  'scripts/count.sh': '#!/bin/sh\nwc -w < "$1" | tr -d " "\n',
};

await describeWithEngine('bubblewrap', 'agent skills in the container', () => {
  test('a third-party folder works unchanged, its script runs there, and the report comes back', async () => {
    const skill = 'groups/family/skills/word-stats';
    const files = Object.fromEntries(
      Object.entries(THIRD_PARTY).map(([path, text]) => [`${skill}/${path}`, text]),
    );
    await using project = await sandboxProject({ engine: 'bubblewrap', files });
    await mkdir(join(project.dir, 'groups/family/texts'), { recursive: true });
    await writeFile(join(project.dir, 'groups/family/texts/a.txt'), 'one two three\n');
    const at = '/workspace/group/skills/word-stats';
    const ran = await project.answer(
      `shell: cat ${at}/references/how.md; sh ${at}/scripts/count.sh texts/a.txt; ls /workspace/project | wc -l`,
    );
    expect(ran).toContain('Words are separated by spaces.\n3\n0\n');
    const { system = '' } = project.server.requests.at(0)?.body ?? {};
    const prompt = typeof system === 'string' ? system : system.map(({ text }) => text).join('\n');
    expect(prompt).toContain(`<skill available="true">
  <name>word-stats</name>
  <description>Counts words. Use when asked how long a text is.</description>
  <location>${at}/SKILL.md</location>
</skill>`);
    // Bundled ones are mounted for reading, and one that needs a tool of another skill says so.
    expect(prompt).toContain('<location>/workspace/shared/agent-skills/research/SKILL.md');
    expect(prompt).toContain('<requires>tool web_fetch or fetch_url or github__* or mcp__github*');
    expect(prompt).toContain('## Ability: memory');
    const report = join(project.dataDir, 'sessions/family/.claude/agent-skills.json');
    expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ count: 16 });
  });
});
