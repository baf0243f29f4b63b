import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { TreeFault } from '../../lib/tree-fault.ts';
import { namesOfAgentTools } from './tool-names.ts';

const define = (name: string) =>
  `import { defineTool } from '../agent-tool.ts';\nexport const tool = defineTool({\n  name: '${name}',\n});\n`;

test('two of the agent’s own tools with one name refuse the start, and both files are named', () => {
  const project = mkdtempSync(join(tmpdir(), 'claw-twins-'));
  const folder = join(project, 'container/agent/tools');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'one.ts'), define('count'));
    writeFileSync(join(folder, 'two.ts'), define('weigh'));
    namesOfAgentTools(project);
    writeFileSync(join(folder, 'two.ts'), define('count'));
    expect(() => namesOfAgentTools(project)).toThrow(TreeFault);
    expect(() => namesOfAgentTools(project)).toThrow(
      /one\.ts and .*two\.ts are both called "count"/,
    );
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
});

test('all tools of this tree have different names', () => {
  expect(namesOfAgentTools(resolve(import.meta.dirname, '../../..'))).toContain('read_file');
});
