import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openControl } from '../../supervisor/control/server.ts';
import { addSkill, CLAW, type Codebase, temporaryCodebase } from '../../testing/claw/codebase.ts';

const HINT =
  'warning: The running assistant still runs the code from before. Say `/restart` in your own chat with it, or: npx claw chat /restart\n';

async function said({ root }: Codebase, ...args: string[]): Promise<string> {
  const { stderr } = await promisify(execFile)(process.execPath, [CLAW, '--cwd', root, ...args]);
  return stderr;
}

test('a change of the code says that the running assistant runs the code from before, and how it gets the new one', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': 'a\n' }, { git: true });
  addSkill(codebase, 'demo', { add: { 'src/demo.ts': 'demo\n' } });
  addSkill(codebase, 'words', { add: { 'words.md': 'words\n' } });
  expect(await said(codebase, 'apply', 'demo')).not.toContain('/restart');
  mkdirSync(codebase.path('data'));
  const server = await openControl(codebase.path('data'), () => ({
    onMessage: () => {},
    onEnd: () => {},
  }));
  expect(await said(codebase, 'plan', 'remove', 'demo')).not.toContain('/restart');
  expect(await said(codebase, 'remove', 'demo')).toContain(HINT);
  expect(await said(codebase, 'undo')).toContain(HINT);
  // Neither what the assistant has not loaded, nor a program that reads the result.
  expect(await said(codebase, 'apply', 'words')).not.toContain('/restart');
  expect((await codebase.claw('remove', 'demo')).json.warnings).toEqual([]);
  await server.close();
});
