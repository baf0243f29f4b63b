import { execFile } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryCodebase } from '../src/testing/codebase.ts';

const HOME = join(import.meta.dirname, '..');

test('an import that the map forbids fails the check, and names the rule', async () => {
  await using codebase = temporaryCodebase({
    'package.json': '{ "type": "module" }',
    'src/host/host.ts': "import { merge } from '../engine/merge/merge.ts';\nmerge();\n",
    'src/engine/merge/merge.ts':
      "import { store } from '../../store/store.ts';\nexport const merge = () => store;\n",
    'src/store/store.ts': 'export const store = 1;\n',
    'src/lib/one.ts':
      "import type { Other } from './other.ts';\nexport type One = { readonly other: Other };\n",
    'src/lib/other.ts':
      "import type { One } from './one.ts';\nexport type Other = { readonly one: One };\n",
    'src/engine/transaction/recover.js': "import semver from 'semver';\nsemver.valid('1');\n",
  });
  cpSync(join(HOME, '.dependency-cruiser.js'), codebase.path('.dependency-cruiser.js'));
  symlinkSync(join(HOME, 'node_modules'), codebase.path('node_modules'));
  const run = await promisify(execFile)(
    process.execPath,
    [join(HOME, 'node_modules/.bin/depcruise'), 'src', '--config', '.dependency-cruiser.js'],
    { cwd: codebase.root },
  ).catch((error: { stdout: string; code: number }) => error);
  expect(run).toMatchObject({ code: 5 });
  for (const rule of [
    'host',
    'engine-alone',
    'merge-pure',
    'recover-builtins-only',
    // Of types alone.
    'no-circular',
  ]) {
    expect(run.stdout).toContain(`error ${rule}:`);
  }
});
