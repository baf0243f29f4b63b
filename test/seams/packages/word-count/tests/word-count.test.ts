import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tool } from '../../../container/agent/tools/word-count.ts';
import { agentToolContext } from '../../../src/testing/turn/agent-tool-context.ts';

test('the words of a file are counted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'word-count-'));
  const path = join(folder, 'note.txt');
  writeFileSync(path, ' one two\n three\n');
  expect(await tool.run({ path }, agentToolContext())).toBe('3 words');
  rmSync(folder, { recursive: true });
});
