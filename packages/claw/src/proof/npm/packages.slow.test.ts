import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Environment } from '../sandboxed.ts';
import { temporaryProject } from '../testing/project.ts';
import { layOutView } from '../view.ts';
import { installPackages } from './packages.ts';

// Packages from tarballs in the project itself, so that npm needs no registry.
const PATHS = ['package.json', 'vendor/quiet-1.0.0.tgz', 'vendor/loud-1.0.0.tgz'];

function projectWithTarballs(packageJson: object) {
  const project = temporaryProject({
    'package.json': JSON.stringify({ name: 'demo', version: '1.0.0', ...packageJson }),
    'pack/quiet/package/package.json': JSON.stringify({ name: 'quiet', version: '1.0.0' }),
    'pack/quiet/package/index.js': 'module.exports = "quiet";\n',
    'pack/loud/package/package.json': JSON.stringify({
      name: 'loud',
      version: '1.0.0',
      scripts: { install: `node -e "require('fs').writeFileSync('ran.txt', '1')"` },
    }),
  });
  fs.mkdirSync(join(project.root, 'vendor'));
  for (const name of ['quiet', 'loud']) {
    const tarball = join(project.root, `vendor/${name}-1.0.0.tgz`);
    execFileSync('tar', ['-czf', tarball, '-C', join(project.root, 'pack', name), 'package']);
  }
  return project;
}

function environment(root: string): Environment {
  return {
    PATH: process.env['PATH'],
    HOME: root,
    npm_config_offline: 'true',
    npm_config_cache: join(root, '.npm-cache'),
    // Steers npm if it gets through, as it would when claw runs under npm itself.
    npm_config_prefix: '/nowhere',
    npm_config_global: 'true',
  };
}

function install(root: string, lock: Buffer | null, options: { isTrusted?: boolean } = {}) {
  const view = layOutView(root, { paths: PATHS, changed: new Map(), tests: [] });
  return installPackages({
    root,
    view: view.path,
    lock,
    environment: environment(root),
    ...options,
  });
}

test('npm makes packages and lock beside the project and leaves the project alone', async () => {
  using project = projectWithTarballs({ dependencies: { quiet: 'file:vendor/quiet-1.0.0.tgz' } });
  const { root } = project;
  fs.mkdirSync(join(root, 'node_modules/present'), { recursive: true });
  fs.writeFileSync(join(root, 'node_modules/present/index.js'), 'mine');
  const installed = await install(root, null);
  const index = join(installed.nodeModules ?? '', 'quiet/index.js');
  expect(fs.readFileSync(index, 'utf8')).toContain('quiet');
  expect(JSON.parse(installed.lock.toString()).packages['node_modules/quiet'].version).toBe(
    '1.0.0',
  );
  expect(fs.readdirSync(join(root, 'node_modules'))).toEqual(['present']);
  expect(fs.existsSync(join(root, 'package-lock.json'))).toBe(false);
});

test('packages that are there already are copies', async () => {
  const quiet = 'file:vendor/quiet-1.0.0.tgz';
  using project = projectWithTarballs({ dependencies: { quiet } });
  const { root } = project;
  const first = await install(root, null);
  fs.cpSync(first.nodeModules ?? '', join(root, 'node_modules'), { recursive: true });
  const wanted = { dependencies: { quiet, loud: 'file:vendor/loud-1.0.0.tgz' } };
  fs.writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'demo', ...wanted }));
  const second = await install(root, first.lock);
  const own = fs.statSync(join(root, 'node_modules/quiet/index.js'));
  const copy = fs.statSync(join(second.nodeModules ?? '', 'quiet/index.js'));
  expect([copy.ino === own.ino, copy.nlink]).toEqual([false, 1]);
});

test('where the installed packages are those of the lock nothing is copied, and it comes out as it went in', async () => {
  const quiet = 'file:vendor/quiet-1.0.0.tgz';
  using project = projectWithTarballs({ dependencies: { quiet } });
  const { root } = project;
  const first = await install(root, null);
  const place = join(root, 'node_modules');
  fs.cpSync(first.nodeModules ?? '', place, { recursive: true });
  const second = await install(root, first.lock);
  expect(second).toMatchObject({ nodeModules: null, unapproved: [] });
  expect(second.lock.equals(first.lock)).toBe(true);

  // As a range that the installed version satisfies; npm writes it into the lock.
  const range = JSON.stringify({ name: 'demo', version: '1.0.0', devDependencies: { quiet } });
  fs.writeFileSync(join(root, 'package.json'), range);
  const moved = await install(root, first.lock);
  expect(moved.nodeModules).toBeNull();
  expect(JSON.parse(moved.lock.toString()).packages[''].devDependencies).toEqual({ quiet });

  fs.rmSync(join(place, 'quiet'), { recursive: true });
  expect((await install(root, first.lock)).nodeModules).not.toBeNull();
});

test('an install script runs only with the owner’s consent, which package.json is not', async () => {
  const dependencies = { loud: 'file:vendor/loud-1.0.0.tgz' };
  using without = projectWithTarballs({ dependencies });
  const refused = await install(without.root, null);
  expect(fs.existsSync(join(refused.nodeModules ?? '', 'loud/ran.txt'))).toBe(false);
  using approved = projectWithTarballs({ dependencies, allowScripts: { loud: true } });
  const claimed = await install(approved.root, null);
  expect(fs.existsSync(join(claimed.nodeModules ?? '', 'loud/ran.txt'))).toBe(false);
  const allowed = await install(approved.root, null, { isTrusted: true });
  expect(fs.existsSync(join(allowed.nodeModules ?? '', 'loud/ran.txt'))).toBe(true);
});

test('npm’s failure comes with its last lines', async () => {
  using project = projectWithTarballs({ dependencies: { missing: 'file:vendor/missing.tgz' } });
  await expect(install(project.root, null)).rejects.toThrow(
    expect.objectContaining({
      code: 'NPM_FAILED',
      data: { output: expect.stringContaining('missing.tgz') },
    }),
  );
});
