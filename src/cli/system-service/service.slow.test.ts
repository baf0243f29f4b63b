import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { environmentOf, TestTree } from '../../testing/claw/supervised-project.ts';
import { launchdPlist, stamped, systemdUnit } from './definition.ts';

const CLAW = resolve(import.meta.dirname, '../../../bin/claw.js');
const ODD = `it's "so" 100% $HOME & <sons> \\o/`;

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'claw-service-')));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that notes what it is called with, and ends with a code. */
function program(name: string, exitCode: number): void {
  const path = join(folder, 'bin', name);
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "$@" >> '${folder}/called'\nexit ${exitCode}\n`);
  chmodSync(path, 0o755);
}

/** `claw service` of a user who has this home folder, and a manager of services of the test's own. */
function service(...args: readonly string[]) {
  const run = spawnSync(process.execPath, [CLAW, 'service', ...args], {
    encoding: 'utf8',
    env: { HOME: folder, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` },
  });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

/** An installation in a folder that has everything in its name that a format could stumble over. */
function oddParts() {
  const home = join(folder, ODD);
  mkdirSync(home, { recursive: true });
  const node = join(home, 'node');
  writeFileSync(node, `#!/bin/sh\necho "$@" >> '${folder}/called'\n`);
  chmodSync(node, 0o755);
  const prepare = join(home, 'prepare.js');
  const start = join(home, 'start.ts');
  return { home, node, anyNode: node, prepare, start, path: `/bin:${home}` };
}

function called(): readonly string[] {
  const path = join(folder, 'called');
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
}

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const hasPython = spawnSync('python3', ['--version']).status === 0;

test.skipIf(!hasSystemd).each([
  { isSystem: false, user: null, version: null },
  { isSystem: true, user: 65534, version: 252 },
])('systemd takes the unit, wherever the project is (needs systemd-analyze) %#', (options) => {
  const unit = join(folder, 'patchclaw.service');
  writeFileSync(unit, systemdUnit(oddParts(), options));
  const scope = options.isSystem ? [] : ['--user'];
  const args = [...scope, 'verify', '--man=no', unit];
  const env = { ...process.env, XDG_RUNTIME_DIR: folder };
  const checked = spawnSync('systemd-analyze', args, { encoding: 'utf8', env });
  expect(checked).toMatchObject({ stderr: '', status: 0 });
  expect(systemdUnit(oddParts(), { ...options, version: 254 })).toContain('RestartSteps=');
});

test.skipIf(!hasPython)(
  'launchd’s list says what to run, wherever the project is (needs python3)',
  () => {
    const parts = oddParts();
    const plist = launchdPlist(parts, { label: 'patchclaw', log: '/log' });
    const script =
      'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const read = spawnSync('python3', ['-c', script], { input: plist, encoding: 'utf8' });
    const { ProgramArguments, KeepAlive } = JSON.parse(read.stdout) as {
      ProgramArguments: string[];
      KeepAlive: unknown;
    };
    expect(KeepAlive).toEqual({ SuccessfulExit: false });
    const [shell = '', ...args] = ProgramArguments;
    expect(spawnSync(shell, args).status).toBe(0);
    expect(called()).toEqual([parts.prepare, `${parts.start} --service`]);
  },
);

test('a service is installed, kept where the owner changed it, and removed', () => {
  program('systemctl', 0);
  const unit = join(folder, '.config/systemd/user/patchclaw.service');
  expect(service('status').out).toContain('is not there');
  const { code, out } = service('install');
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(
      /is written\.\nIt is enabled\.\nNow run:\n {2}systemctl --user restart patch/,
    ),
  });
  expect(called()).toContain('--user daemon-reload');
  expect(called()).toContain('--user enable patchclaw.service');
  expect(service('install').out).toContain('is as it should be');

  const text = readFileSync(unit, 'utf8');
  writeFileSync(unit, text.replace('RestartSec=30', 'RestartSec=7'));
  expect(service('status').out).toContain('changes of yours');
  const refused = service('install');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('- RestartSec=7') });
  expect(refused.err).toContain('+ RestartSec=30');
  expect(service('uninstall')).toMatchObject({ code: 1 });
  expect(readFileSync(unit, 'utf8')).toContain('RestartSec=7');
  expect(service('install', '--yes')).toMatchObject({ code: 0 });
  expect(readFileSync(unit, 'utf8')).toBe(text);

  const other = systemdUnit(oddParts(), { isSystem: false, user: null, version: null });
  writeFileSync(unit, stamped(other, '#'));
  for (const action of ['install', 'uninstall']) {
    expect(service(action)).toMatchObject({ code: 1, err: expect.stringContaining('--name') });
  }
  expect(service('stop')).toMatchObject({ code: 1, err: expect.stringContaining('--name') });
  writeFileSync(unit, text);

  expect(service('start').out).toBe('It is started.\n');
  expect(called().at(-1)).toBe('--user restart patchclaw.service');
  expect(service('stop').out).toBe('It is stopped.\n');
  expect(called().at(-1)).toBe('--user stop patchclaw.service');
  expect(service('uninstall').out).toContain(`${unit} is removed.`);
  expect(called()).toContain('--user disable --now patchclaw.service');
  expect(existsSync(unit)).toBe(false);
  expect(service('stop')).toMatchObject({ code: 1, err: expect.stringContaining('no service') });
});

test('if no service manager answers, the remaining steps are printed', () => {
  program('systemctl', 1);
  expect(service('install').out).toMatch(
    /Now run:\n {2}systemctl --user daemon-reload\n {2}systemctl --user enable .*\n {2}systemctl --user restart/,
  );
  expect(service('install', '--name', '../x')).toMatchObject({ code: 2 });
});

test('the unit’s command runs without a terminal until it is told to stop, and ends well', async () => {
  using tree = new TestTree();
  const claw = join(tree.dir, 'bin/claw.js');
  const env = { ...environmentOf(tree), NODE_COMPILE_CACHE: undefined };
  const printed = spawnSync(process.execPath, [claw, 'service', 'install', '--print'], {
    encoding: 'utf8',
    env,
  });
  const line = /^ExecStart=:(.*)$/m.exec(printed.stdout)?.[1] ?? '';
  const [program = '', ...args] = [...line.matchAll(/"([^"]*)"/g)].map(([, word]) => word ?? '');
  expect(args).toEqual([join(tree.dir, 'src/supervisor/entry.js'), '--service']);
  // A session of its own has no terminal.
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    cwd: '/',
    env,
  });
  const ended = once(child, 'close');
  await using _ = {
    // Before the tree goes, which it would write into.
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (log += text));
  const healthy = join(tree.dataDir, 'last-healthy.json');
  await vi.waitFor(() => expect(existsSync(healthy), log).toBe(true));
  expect(child.exitCode).toBe(null);
  child.kill('SIGTERM');
  expect(await ended, log).toEqual([0, null]);
  expect(log).toContain('I am Andy');
  // What was compiled is kept for the next start.
  expect(existsSync(join(tree.dataDir, 'cache/code'))).toBe(true);
});
