import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { findBubblewrap } from './bubblewrap.ts';
import { runSandboxed, UNSANDBOXED } from './sandboxed.ts';
import { ENVIRONMENT, temporaryProject, WITHOUT_BUBBLEWRAP } from './testing/project.ts';
import { layOutView } from './view.ts';

const isConfined = (await findBubblewrap(ENVIRONMENT['PATH'] ?? '')) !== null;

const PROJECT = {
  '.env': 'ANTHROPIC_API_KEY=secret',
  'src/a.js': 'export const a = 1;\n',
  'node_modules/dep/index.js': 'module.exports = 1;\n',
  'node_modules/dep/package.json': '{"name":"dep","version":"1.0.0"}',
  'package.json': '{"type":"module"}',
};

/** Runs a test file with `node --test` in a view of the project. */
async function runTest(
  root: string,
  text: string,
  options: { timeoutMs?: number; environment?: typeof ENVIRONMENT } = {},
) {
  fs.writeFileSync(join(root, 'it.test.js'), text);
  const paths = ['package.json', 'src/a.js', 'it.test.js'];
  const view = layOutView(root, { paths, changed: new Map(), tests: [] });
  const command = { file: 'node', args: ['--test', 'it.test.js'] };
  try {
    return await runSandboxed(view.path, command, {
      root,
      nodeModules: join(root, 'node_modules'),
      environment: ENVIRONMENT,
      ...options,
    });
  } finally {
    view.remove();
  }
}

const confined = test.skipIf(!isConfined);

confined('a test uses the code, the packages and a loopback of its own', async () => {
  using project = temporaryProject(PROJECT);
  const run = await runTest(
    project.root,
    `import test from 'node:test';
     import assert from 'node:assert';
     import { writeFileSync } from 'node:fs';
     import { createServer } from 'node:http';
     import dep from 'dep';
     import { a } from './src/a.js';
     test('works', async () => {
       assert.equal(a + dep, 2);
       writeFileSync('scratch.txt', 'in the view');
       writeFileSync('/tmp/scratch.txt', 'in a /tmp of its own');
       const server = createServer((_, response) => response.end('hello'));
       await new Promise((done) => server.listen(0, '127.0.0.1', done));
       const answer = await fetch('http://127.0.0.1:' + server.address().port);
       assert.equal(await answer.text(), 'hello');
       server.close();
     });`,
  );
  expect(run).toMatchObject({ isOk: true, warning: null });
  expect(fs.existsSync(join(project.root, 'scratch.txt'))).toBe(false);
});

confined(
  'code that was compiled before is taken from the packages, and none is left there',
  async () => {
    using project = temporaryProject(PROJECT);
    const place = join(project.root, 'node_modules/.cache/patchclaw/proof');
    fs.mkdirSync(place, { recursive: true });
    const compile = { NODE_COMPILE_CACHE: place, NODE_COMPILE_CACHE_PORTABLE: '1' };
    execFileSync(process.execPath, ['src/a.js'], { cwd: project.root, env: compile });
    const compiled = fs.readdirSync(place, { recursive: true }).sort();
    expect(compiled.length).toBeGreaterThan(1);

    fs.writeFileSync(join(project.root, 'src/b.js'), "import './a.js';\n");
    const paths = ['package.json', 'src/a.js', 'src/b.js'];
    const view = layOutView(project.root, { paths, changed: new Map(), tests: [] });
    const run = await runSandboxed(
      view.path,
      { file: 'sh', args: ['-c', 'NODE_DEBUG_NATIVE=COMPILE_CACHE node src/b.js'] },
      {
        root: project.root,
        nodeModules: join(project.root, 'node_modules'),
        environment: ENVIRONMENT,
      },
    );
    view.remove();
    expect(run.isOk).toBe(true);
    expect(run.output).toMatch(/src\/a\.js was accepted/);
    expect(fs.readdirSync(place, { recursive: true }).sort()).toEqual(compiled);
  },
);

confined('a test reaches no server, not even one on this machine', async () => {
  using project = temporaryProject(PROJECT);
  let visits = 0;
  const server = createServer((_, response) => response.end(String(++visits)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const run = await runTest(
    project.root,
    `import test from 'node:test';
     test('reaches out', () => fetch('http://127.0.0.1:${port}'));`,
  );
  server.close();
  expect(run.isOk).toBe(false);
  expect(run.output).toContain('ECONNREFUSED');
  expect(visits).toBe(0);
});

confined(
  'a test sees neither home, nor the project, nor its .env, nor the environment',
  async () => {
    using project = temporaryProject(PROJECT);
    const outside = fs.mkdtempSync(join(homedir(), '.claw-proof-'));
    fs.writeFileSync(join(outside, 'id_rsa'), 'key');
    const run = await runTest(
      project.root,
      `import test from 'node:test';
     import assert from 'node:assert';
     import { existsSync, readdirSync } from 'node:fs';
     test('sees nothing', () => {
       for (const path of ${JSON.stringify([
         join(outside, 'id_rsa'),
         join(project.root, '.env'),
         join(project.root, 'src/a.js'),
         '/etc/shadow',
         '/var/log',
       ])}) assert.ok(!existsSync(path), path);
       assert.ok(!existsSync('.env'));
       assert.deepEqual(readdirSync(process.env.HOME), []);
       const names = Object.keys(process.env).filter((name) => !/^NODE_|^PWD$/.test(name));
       assert.deepEqual(names.sort(), ['CI', 'HOME', 'LANG', 'NO_COLOR', 'PATH']);
       assert.equal(process.env.NODE_ENV, 'test');
     });`,
    );
    fs.rmSync(outside, { recursive: true });
    expect(run.output).not.toContain('AssertionError');
    expect(run.isOk).toBe(true);
  },
);

confined('a test writes nowhere but in the view', async () => {
  using project = temporaryProject(PROJECT);
  const marker = `/var/tmp/claw-proof-${process.pid}`;
  const run = await runTest(
    project.root,
    `import test from 'node:test';
     import assert from 'node:assert';
     import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
     test('cannot write', () => {
       for (const path of ${JSON.stringify([
         marker,
         '/usr/claw',
         '/etc/claw',
         join(project.root, 'src/a.js'),
         join(project.root, 'node_modules/dep/index.js'),
         'node_modules/dep/index.js',
         'node_modules/new.js',
       ])}) assert.throws(() => writeFileSync(path, 'x'), path);
       assert.throws(() => rmSync('node_modules/dep', { recursive: true }));
     });`,
  );
  expect(run.output).not.toContain('AssertionError');
  expect(run.isOk).toBe(true);
  expect(fs.existsSync(marker)).toBe(false);
  const dep = join(project.root, 'node_modules/dep/index.js');
  expect(fs.readFileSync(dep, 'utf8')).toBe('module.exports = 1;\n');
});

confined('Vite’s scratch folder can be written, the packages beside it cannot', async () => {
  using project = temporaryProject({
    ...PROJECT,
    'node_modules/vite/index.js': '',
    'node_modules/.vitest-cache/of-an-earlier-run.json': '',
  });
  const run = await runTest(
    project.root,
    `import test from 'node:test';
     import assert from 'node:assert';
     import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
     import dep from 'dep';
     test('writes there', () => {
       assert.deepEqual(readdirSync('node_modules/.vitest-cache'), []);
       mkdirSync('node_modules/.vite-temp', { recursive: true });
       writeFileSync('node_modules/.vite-temp/config.mjs', '');
       for (const path of ['node_modules/new.js', 'node_modules/dep/index.js']) {
         assert.throws(() => writeFileSync(path, 'x'), path);
       }
     });`,
  );
  expect(run.isOk).toBe(true);
  const left = fs.readdirSync(join(project.root, 'node_modules')).sort();
  expect(left).toEqual(['.vite-temp', '.vitest-cache', 'dep', 'vite']);
  expect(fs.readdirSync(join(project.root, 'node_modules/.vite-temp'))).toEqual([]);
  expect(fs.readdirSync(join(project.root, 'node_modules/.vitest-cache'))).toHaveLength(1);
});

for (const environment of isConfined ? [ENVIRONMENT, WITHOUT_BUBBLEWRAP] : [WITHOUT_BUBBLEWRAP]) {
  const where = environment === ENVIRONMENT ? 'in bubblewrap' : 'without bubblewrap';

  test(`a command that never ends is killed with all it started, ${where}`, async () => {
    using project = temporaryProject(PROJECT);
    const run = await runTest(
      project.root,
      `import { spawn } from 'node:child_process';
       const child = spawn('sleep', ['601.5'], { stdio: 'inherit' });
       console.log('started', child.pid);
       setInterval(() => {}, 1000);`,
      { timeoutMs: 2_000, environment },
    );
    expect(run.isOk).toBe(false);
    expect(run.output).toContain('Stopped. It did not end within 2 s.');
    // A process that was killed is seen until the system has put it away.
    await vi.waitFor(() => expect(runningCommands()).not.toContain('sleep\0' + '601.5'));
  });

  test(`endless output is cut at a megabyte and its end is kept, ${where}`, async () => {
    using project = temporaryProject(PROJECT);
    const view = layOutView(project.root, { paths: [], changed: new Map(), tests: [] });
    const script = `for (let i = 0; i < 3000; i += 1) console.log(' '.repeat(1000) + 'line ' + i);`;
    const command = { file: 'node', args: ['-e', script] };
    const { root } = project;
    const run = await runSandboxed(view.path, command, { root, nodeModules: null, environment });
    expect(run.isOk).toBe(true);
    expect(run.output.length).toBeLessThan(1024 * 1024 + 100);
    expect(run.output).toMatch(/line 2999$/);
  });
}

test('without bubblewrap the environment is scrubbed all the same, and a warning says so', async () => {
  using project = temporaryProject(PROJECT);
  const run = await runTest(
    project.root,
    `import test from 'node:test';
     import assert from 'node:assert';
     import { readdirSync } from 'node:fs';
     import dep from 'dep';
     test('runs', () => {
       assert.equal(dep, 1);
       assert.equal(process.env.SECRET, undefined);
       assert.deepEqual(readdirSync(process.env.HOME), []);
     });`,
    { environment: WITHOUT_BUBBLEWRAP },
  );
  expect(run.output).not.toContain('AssertionError');
  expect(run).toMatchObject({ isOk: true, warning: UNSANDBOXED });
  expect(fs.readdirSync(join(project.root, '.claw/tx'))).toEqual([]);
});

test('a command that is not there is a failure with its name', async () => {
  using project = temporaryProject(PROJECT);
  const view = layOutView(project.root, { paths: [], changed: new Map(), tests: [] });
  for (const environment of [ENVIRONMENT, WITHOUT_BUBBLEWRAP]) {
    const command = { file: 'no-such-program', args: [] };
    const options = { root: project.root, nodeModules: null, environment };
    const run = await runSandboxed(view.path, command, options);
    expect(run.isOk).toBe(false);
    expect(run.output).toContain('no-such-program');
  }
});

function runningCommands(): readonly string[] {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0$/, '');
      } catch {
        return ''; // It ended while we looked.
      }
    });
}

confined('a command that is ended at any moment of its start leaves nothing running', async () => {
  using project = temporaryProject(PROJECT);
  const view = layOutView(project.root, { paths: [], changed: new Map(), tests: [] });
  const mark = `6${process.pid}`;
  for (let run = 0; run < 100; run += 1) {
    const ended = await runSandboxed(
      view.path,
      { file: 'sleep', args: [mark] },
      {
        root: project.root,
        nodeModules: null,
        environment: ENVIRONMENT,
        timeoutMs: 1 + (run % 12),
      },
    );
    expect(ended.stop?.limit).toBe('time');
  }
  const isOurs = (pid: string) => readOrEmpty(`/proc/${pid}/cmdline`) === `sleep\0${mark}\0`;
  expect(fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOurs(name))).toEqual([]);
});

function readOrEmpty(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return ''; // It has ended since.
  }
}

test.each([
  ['in bubblewrap', ENVIRONMENT],
  ['without bubblewrap', WITHOUT_BUBBLEWRAP],
] as const)(
  'a workspace is the one of the view, not that of the project: %s',
  async (where, environment) => {
    if (where === 'in bubblewrap' && !isConfined) return;
    using project = temporaryProject({
      ...PROJECT,
      'packages/own/index.js': "export const own = 'as published';\n",
      'packages/own/package.json': '{"name":"@scope/own","type":"module","exports":"./index.js"}',
    });
    fs.mkdirSync(join(project.root, 'node_modules/@scope'));
    fs.symlinkSync('../../packages/own', join(project.root, 'node_modules/@scope/own'));
    const asked = `import test from 'node:test';
    import assert from 'node:assert';
    import dep from 'dep';
    import { own } from '@scope/own';
    test('is new', () => assert.equal(own + dep, 'as planned1'));`;
    const paths = ['package.json', 'packages/own/index.js', 'packages/own/package.json'];
    const planned = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });
    const changed = new Map([
      ['packages/own/index.js', planned("export const own = 'as planned';\n")],
      ['it.test.js', planned(asked)],
    ]);
    const view = layOutView(project.root, { paths, changed, tests: [] });
    try {
      const run = await runSandboxed(
        view.path,
        { file: process.execPath, args: ['--test', 'it.test.js'] },
        { root: project.root, nodeModules: join(project.root, 'node_modules'), environment },
      );
      expect(run.output).not.toContain('as published');
      expect(run.isOk, run.output).toBe(true);
    } finally {
      view.remove();
    }
    expect(fs.existsSync(join(project.root, 'node_modules/dep/index.js'))).toBe(true);
  },
);
