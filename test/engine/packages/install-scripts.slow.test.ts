import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

type Registry = AsyncDisposable & { readonly url: string };

/** A registry on loopback with one package, whose install script leaves a file behind. */
async function registryWith(name: string): Promise<Registry> {
  const place = openCodebase(mkdtempSync(join(tmpdir(), 'claw-registry-')));
  const manifest = {
    name,
    version: '1.0.0',
    scripts: { install: `node -e "require('fs').writeFileSync('ran.txt', '1')"` },
  };
  place.write({ 'package/package.json': JSON.stringify(manifest) });
  execFileSync('tar', ['-czf', 'it.tgz', 'package'], { cwd: place.root });
  const tarball = readFileSync(place.path('it.tgz'));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) return response.end(tarball);
    const dist = { tarball: `${url}/${name}/-/${name}-1.0.0.tgz`, integrity };
    const versions = { '1.0.0': { ...manifest, hasInstallScript: true, dist } };
    if (request.url !== `/${name}`) response.statusCode = 404;
    return response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.close();
      rmSync(place.root, { recursive: true });
    },
  };
}

function codebaseWith(registry: Registry): Codebase {
  const codebase = temporaryCodebase(
    {
      'package.json': `${JSON.stringify({ name: 'app', version: '1.0.0' }, null, 2)}\n`,
      '.npmrc': `registry=${registry.url}\n`,
      '.gitignore': 'node_modules\n',
    },
    { git: true },
  );
  addSkill(codebase, 'demo', {
    manifest: { structured: { npm_dependencies: { 'claw-loud': '^1.0.0' } } },
  });
  return codebase;
}

const RAN = 'node_modules/claw-loud/ran.txt';

test('a plan names the packages that have install scripts, and touches nothing', async () => {
  await using registry = await registryWith('claw-loud');
  await using codebase = codebaseWith(registry);
  const before = codebase.tree();
  const run = await codebase.claw('plan', 'apply', 'demo');
  expect(run.json.data).toMatchObject({
    packages: ['claw-loud@^1.0.0'],
    installScripts: ['claw-loud@1.0.0'],
  });
  expect(run.json.warnings.join()).toContain('--allow npm:claw-loud');
  expect(codebase.tree()).toEqual(before);
  expect(codebase.has('.claw')).toBe(false);
  const allowed = await codebase.claw('plan', 'apply', 'demo', '--allow', 'npm:claw-loud');
  expect(allowed.json.warnings).toEqual([]);
});

test('an install script does not run, and a warning says so', async () => {
  await using registry = await registryWith('claw-loud');
  await using codebase = codebaseWith(registry);
  const run = await codebase.claw('apply', 'demo');
  expect(run.json).toMatchObject({ ok: true, outcome: 'done' });
  expect(codebase.has('node_modules/claw-loud/package.json')).toBe(true);
  expect(codebase.has(RAN)).toBe(false);
  expect(run.json.warnings.join()).toContain('claw-loud 1.0.0 has an install script');
});

test('an install script runs once the owner has named its package', async () => {
  await using registry = await registryWith('claw-loud');
  await using codebase = codebaseWith(registry);
  const other = await codebase.claw('apply', 'demo', '--allow', 'npm:claw-quiet', '--yes');
  expect([other.json.ok, codebase.has(RAN)]).toEqual([true, false]);
  await codebase.claw('remove', 'demo');
  expect(codebase.has('node_modules/claw-loud')).toBe(false);
  const run = await codebase.claw('apply', 'demo', '--allow', 'npm:claw-loud');
  expect(run.json).toMatchObject({ ok: true, warnings: [] });
  expect(codebase.has(RAN)).toBe(true);
});

test('where npm cannot tell, the plan says that', async () => {
  await using registry = await registryWith('something-else');
  await using codebase = codebaseWith(registry);
  const run = await codebase.claw('plan', 'apply', 'demo');
  expect(run).toMatchObject({ code: 0, json: { data: { installScripts: [] } } });
  expect(run.json.warnings.join()).toContain('cannot be told');
});
