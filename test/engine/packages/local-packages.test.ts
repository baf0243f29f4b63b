import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addSkill, commitAll, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const manifest = (name: string, more: object = {}) =>
  JSON.stringify({ name, version: '1.0.0', type: 'module', main: 'index.js', ...more });

/** Makes a tarball of a package, at a path of the code base. */
function tarball(path: string, name: string): void {
  const place = mkdtempSync('/tmp/claw-tarball-');
  mkdirSync(join(place, 'package'));
  writeFileSync(join(place, 'package/package.json'), manifest(name));
  writeFileSync(join(place, 'package/index.js'), `export default '${name}';\n`);
  execFileSync('tar', ['-czf', path, '-C', place, 'package']);
  rmSync(place, { recursive: true });
}

test('a skill with packages is proved where the project has packages of its own in folders and tarballs', async () => {
  await using codebase = temporaryCodebase(
    {
      '.gitignore': 'node_modules\n',
      'package.json': `${JSON.stringify(
        {
          name: 'app',
          version: '1.0.0',
          type: 'module',
          workspaces: ['parts/*'],
          dependencies: { packed: 'file:vendor/packed.tgz', folder: 'file:./vendor/folder' },
        },
        null,
        2,
      )}\n`,
      'vendor/folder/package.json': manifest('folder', { dependencies: { deep: 'file:../deep' } }),
      'vendor/folder/index.js': "export { default } from 'deep';\n",
      'vendor/deep/package.json': manifest('deep'),
      'vendor/deep/index.js': "export default 'deep';\n",
      'parts/one/package.json': manifest('one'),
      'parts/one/index.js': "export default 'one';\n",
    },
    { git: true },
  );
  tarball(codebase.path('vendor/packed.tgz'), 'packed');
  commitAll(codebase, 'a tarball');
  addSkill(codebase, 'demo', {
    add: { 'b.txt': 'b\n' },
    manifest: { structured: { npm_dependencies: { isarray: '^2.0.0' } } },
    tests: {
      'demo.test.mjs':
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport isArray from 'isarray';\n" +
        "import packed from 'packed';\nimport folder from 'folder';\nimport one from 'one';\n" +
        "test('all are there', () => assert.deepEqual([isArray([]), packed, folder, one], [true, 'packed', 'deep', 'one']));\n",
    },
  });
  const run = await codebase.claw('--yes', 'apply', 'demo');
  expect(run.json.error).toBeNull();
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done', data: { proof: { tests: 1 } } } });
  const loads =
    "import('folder').then(async (one) => console.log(one.default, (await import('one')).default))";
  const args = ['--input-type=module', '-e', loads];
  const said = execFileSync(process.execPath, args, { cwd: codebase.root, encoding: 'utf8' });
  expect(said).toBe('deep one\n');
  expect(await codebase.claw('undo')).toMatchObject({ code: 0 });
});
