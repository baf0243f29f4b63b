import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addSkill, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const HOME = join(import.meta.dirname, '../../..');
const readOwn = (path: string) => readFileSync(join(HOME, path), 'utf8');

test('the types of a skill’s tests are checked with the code, by this project’s own settings', async () => {
  const settings = ['tsconfig.json', 'tsconfig.proof.json', 'claw.config.yaml'];
  await using codebase = temporaryCodebase(
    {
      ...Object.fromEntries(settings.map((path) => [path, readOwn(path)])),
      '.gitignore': 'node_modules\n',
      'package.json': '{ "name": "demo", "version": "1.0.0", "type": "module" }\n',
      'src/core.ts': 'export const core = 1;\n',
    },
    { git: true },
  );
  symlinkSync(join(HOME, 'node_modules'), codebase.path('node_modules'));
  const withTest = (type: string) => ({
    core: '1.0.0',
    add: { 'src/dice.ts': 'export const roll = (): number => 4;\n' },
    tests: {
      'dice.test.ts': `import { expect, test } from 'vitest';
import { roll } from '../../../src/dice.ts';
test('rolls', () => {
  const rolled: ${type} = roll();
  expect(rolled).toBe(4);
});
`,
    },
  });
  addSkill(codebase, 'dice', withTest('string'));
  const refused = await codebase.claw('apply', 'dice');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'CHECKS_FAILED' } } });
  expect(refused.json.error?.message).toContain('skills/dice/tests/dice.test.ts');
  addSkill(codebase, 'dice', withTest('number'));
  expect((await codebase.claw('apply', 'dice')).code).toBe(0);
});
