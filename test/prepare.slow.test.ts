import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const REPOSITORY = resolve(import.meta.dirname, '..');
const NEEDED = ['scripts/prepare.js', 'packages/claw/src/transaction/recover.js'];

/** As the package `node` does: its binary comes by its install script. */
const FETCH = `const { mkdirSync, writeFileSync } = require('node:fs');
mkdirSync('bin', { recursive: true });
writeFileSync('bin/node', '#!/bin/sh\\necho "$@" >> ran\\n', { mode: 0o755 });`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'claw-prepare-'));
  for (const path of NEEDED) cpSync(join(REPOSITORY, path), join(root, path));
  write('packed/package.json', {
    name: 'node',
    version: '24.0.0',
    bin: { node: 'bin/node' },
    // Not the one of this package, which only notes that it ran.
    scripts: { preinstall: `${process.execPath} fetch.js` },
  });
  writeFileSync(join(root, 'packed/fetch.js'), FETCH);
  npm('pack', './packed');
  write('package.json', {
    type: 'module',
    private: true,
    dependencies: { node: 'file:node-24.0.0.tgz' },
    allowScripts: { node: true },
  });
  npm('install', '--package-lock-only');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('packages that were installed without scripts lack their Node: it is fetched, and nothing else', () => {
  npm('ci', '--ignore-scripts');
  write('node_modules/mine.json', {});
  expect(existsSync(join(root, 'node_modules/node/bin/node'))).toBe(false);
  const first = prepare();
  expect(first.stderr).toMatch(/^The Node that Patchclaw runs on is missing. Downloading it …\n/);
  expect(first.status).toBe(0);
  expect(existsSync(join(root, 'node_modules/node/bin/node'))).toBe(true);
  expect(existsSync(join(root, 'node_modules/mine.json'))).toBe(true);
  expect(prepare()).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

test('a Node that went missing later is fetched again', () => {
  expect(prepare()).toMatchObject({ status: 0 });
  expect(existsSync(join(root, 'node_modules/node/bin/node'))).toBe(true);
  rmSync(join(root, 'node_modules/node/bin'), { recursive: true });
  expect(prepare().stderr).toContain('Downloading it');
  expect(existsSync(join(root, 'node_modules/node/bin/node'))).toBe(true);
});

test('before the tests the types are checked, once; before a start nothing is', () => {
  expect(prepare({ npm_lifecycle_event: 'prestart' }).stderr).toContain(
    '2/2 Starting the assistant',
  );
  expect(existsSync(join(root, 'ran'))).toBe(false);
  rmSync(join(root, 'node_modules'), { recursive: true });
  expect(prepare().stderr).toContain(
    'Checking the types once, so that the first proof is fast …\n',
  );
  prepare();
  const ran = readFileSync(join(root, 'ran'), 'utf8');
  expect(ran).toBe(`${join(root, 'scripts/first-checks.ts')} --if-needed\n`);
});

test('without a network it says so, and ends at once with what to do', () => {
  const offline = { npm_config_offline: 'false', npm_config_registry: 'http://127.0.0.1:1/' };
  const kept = prepare({ ...offline, npm_lifecycle_event: 'prestart' });
  expect(kept.stderr).toContain('registry of npm cannot be reached (ECONNREFUSED).');
  expect(kept.status).toBe(0);
  rmSync(join(root, 'node_modules'), { recursive: true });
  needAlso('absent', 'http://127.0.0.1:1/absent-1.0.0.tgz');
  const temporary = join(root, 'temporary');
  mkdirSync(temporary);
  const given = { ...offline, TMPDIR: temporary, npm_lifecycle_event: 'prestart' };
  const missing = prepare(given);
  expect(missing.stderr).toContain('Connect this machine to the network and try again.');
  expect(missing.status).toBe(1);
  expect(readdirSync(temporary).filter((name) => name.startsWith('patchclaw-'))).toEqual([]);
});

const OFFLINE = { npm_config_offline: 'false', npm_config_registry: 'http://127.0.0.1:9/' };
const FAILURES = [
  { what: 'without a network', given: OFFLINE, resolved: 'http://127.0.0.1:9/absent-1.0.0.tgz' },
  { what: 'and npm fails', given: {}, resolved: 'file:absent-1.0.0.tgz' },
];

for (const { what, given, resolved } of FAILURES) {
  test(`other packages are asked for ${what}: those that are here stay as they are`, () => {
    expect(prepare().status).toBe(0);
    write('node_modules/mine.json', {});
    const before = readdirSync(join(root, 'node_modules'), { recursive: true });
    needAlso('absent', resolved);
    const failed = prepare(given);
    expect(failed.stderr).toContain('The packages that were here before are untouched.');
    expect(failed.status).toBe(1);
    expect(readdirSync(join(root, 'node_modules'), { recursive: true })).toEqual(before);
    expect(readdirSync(join(root, '.claw/cache'))).toEqual([]);
  });
}

test('other packages replace those that are here once they are whole', () => {
  expect(prepare().status).toBe(0);
  write('node_modules/mine.json', {});
  write('more/package.json', { name: 'more', version: '1.0.0' });
  npm('pack', './more');
  needAlso('more', 'file:more-1.0.0.tgz');
  expect(prepare()).toMatchObject({ status: 0 });
  expect(existsSync(join(root, 'node_modules/more/package.json'))).toBe(true);
  expect(existsSync(join(root, 'node_modules/node/bin/node'))).toBe(true);
  expect(existsSync(join(root, 'node_modules/mine.json'))).toBe(false);
  expect(readdirSync(join(root, '.claw/cache'))).toEqual([]);
  expect(prepare()).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

test('packages that a kill left aside come back', () => {
  expect(prepare().status).toBe(0);
  mkdirSync(join(root, '.claw/cache/packages'), { recursive: true });
  renameSync(join(root, 'node_modules'), join(root, '.claw/cache/packages/replaced'));
  expect(prepare()).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(existsSync(join(root, 'node_modules/node/bin/node'))).toBe(true);
});

function needAlso(name: string, resolved: string): void {
  const wanted = resolved.startsWith('file:') ? resolved : '1.0.0';
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  lock.packages[''].dependencies[name] = wanted;
  lock.packages[`node_modules/${name}`] = { version: '1.0.0', resolved };
  write('package-lock.json', lock);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  manifest.dependencies[name] = wanted;
  write('package.json', manifest);
}

function write(path: string, content: object): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), JSON.stringify(content));
}

function npm(...args: string[]): void {
  const options = ['--offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', [...args, ...options], { cwd: root, stdio: 'pipe' });
}

function prepare(also: Readonly<Record<string, string>> = {}) {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, npm_config_offline: 'true', ...also };
  const script = join(root, 'scripts/prepare.js');
  return spawnSync(process.execPath, [script], { cwd: root, encoding: 'utf8', env });
}
