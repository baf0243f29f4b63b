import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inject } from '../../../packages/claw/src/transaction/testing/strace.ts';
import { type Codebase, commitAll, openCodebase } from '../../../src/testing/claw/codebase.ts';
import { addRelease } from '../releases.ts';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const CALLS = 'rename,link,unlink';
const isSkipped = spawnSync('strace', ['--version']).status !== 0;
const title = 'an update that replaces claw itself';
const KILLS = Number(process.env['CLAW_KILLS'] ?? 3);

/** A codebase that is claw: its own engine works on it. */
function ownEngine(): Codebase {
  const codebase = openCodebase(fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'claw-itself-'))));
  for (const path of ['bin', 'packages', 'src', 'package.json']) {
    fs.cpSync(join(REPOSITORY, path), codebase.path(path), {
      recursive: true,
      filter: (from) => !/\.test\.ts$|\/golden$|\/claw\/lib$/.test(from),
    });
  }
  codebase.write({ '.gitignore': 'node_modules\npackages/claw/lib\n' });
  fs.symlinkSync(fs.realpathSync(join(REPOSITORY, 'node_modules')), codebase.path('node_modules'));
  codebase.git('init', '--quiet', '--initial-branch=main');
  commitAll(codebase, 'claw');
  codebase.git('tag', 'v0.1.0');
  return codebase;
}

/** The next engine calls a function by another name, in every file that uses it, and moves another. */
function nextEngine(codebase: Codebase): readonly string[] {
  const files: Record<string, string> = {};
  const all = codebase
    .git('ls-files', 'packages', 'src', 'bin')
    .split('\n')
    .filter((path) => path !== '');
  for (const path of all) {
    const text = codebase.read(path);
    const changed = text
      .replaceAll('isSameFile', 'isEqualFile')
      .replaceAll('package/nearest-names.ts', 'package/close-names.ts')
      .replaceAll("'../nearest-names.ts'", "'../close-names.ts'");
    if (changed !== text) files[path] = changed;
  }
  files['packages/claw/src/package/close-names.ts'] = codebase.read(
    'packages/claw/src/package/nearest-names.ts',
  );
  for (const path of [
    'bin/claw.js',
    'packages/claw/src/verbs.ts',
    'packages/claw/src/transaction/recover.js',
  ]) {
    files[path] = `${files[path] ?? codebase.read(path)}// The next one.\n`;
  }
  const gone = ['packages/claw/src/package/nearest-names.ts'];
  const manifest = codebase
    .read('package.json')
    .replace('"version": "0.1.0"', '"version": "0.2.0"');
  addRelease(codebase, 'v0.2.0', {
    from: 'v0.1.0',
    gone,
    files: { ...files, 'package.json': manifest },
  });
  return Object.keys(files);
}

type Snapshot = { readonly tree: object; readonly state: object };

describe.skipIf(isSkipped)(isSkipped ? `${title} (strace is missing)` : title, () => {
  let start: Codebase;
  let changed: readonly string[];
  let before: Snapshot;
  let after: Snapshot;
  let points: readonly { call: string; nth: number }[];
  const copies: Codebase[] = [];

  const copy = (): Codebase => {
    const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'claw-itself-')));
    execFileSync('cp', ['-a', '--reflink=auto', `${start.root}/.`, root]);
    copies.push(openCodebase(root));
    return openCodebase(root);
  };

  beforeAll(async () => {
    start = ownEngine();
    copies.push(start);
    changed = nextEngine(start);
    expect((await own(start, process.execPath, 'init')).code).toBe(0);
    before = snapshot(start);
    const done = copy();
    const log = `${done.root}.log`;
    await execa('strace', [
      '-f',
      '--seccomp-bpf',
      '-e',
      `trace=${CALLS}`,
      '-o',
      log,
      ...update(done),
    ]);
    points = publishing(fs.readFileSync(log, 'utf8'));
    fs.rmSync(log);
    after = snapshot(done);
    expect(done.read('bin/claw.js')).toContain('// The next one.');
    expect(changed.length).toBeGreaterThan(20);
    expect(points.length).toBeGreaterThan(2 * changed.length);
  });

  afterAll(async () => {
    for (const one of copies) await one[Symbol.asyncDispose]();
  });

  test.concurrent('works, and the new engine knows what the old one left', async () => {
    const codebase = copy();
    const [node = '', ...args] = update(codebase);
    expect((await execa(node, args)).exitCode).toBe(0);
    expect(snapshot(codebase)).toEqual(after);
    expect(await own(codebase, process.execPath, 'verify')).toMatchObject({ code: 0 });
    expect(await own(codebase, process.execPath, 'undo')).toMatchObject({ code: 0 });
    expect(snapshot(codebase)).toEqual(before);
  });

  for (let kill = 0; kill < KILLS; kill += 1) {
    test.concurrent(`killed while it publishes, ${kill + 1} of ${KILLS}, it is finished by whatever comes next`, async () => {
      const codebase = copy();
      // The first and the last call are the ones where before and after meet.
      const point = points[Math.round((kill * (points.length - 1)) / Math.max(1, KILLS - 1))];
      if (point === undefined) throw new Error('nothing to kill at');
      await killAt(codebase, point);
      const run = await own(codebase, kill % 2 === 0 ? 'node' : process.execPath, 'status');
      expect(run).toMatchObject({ code: 0, json: { ok: true, data: { edits: [] } } });
      const isAfter = codebase.read('package.json').includes('"version": "0.2.0"');
      expect(snapshot(codebase)).toEqual(isAfter ? after : before);
      expect(kill < 1 || isAfter).toBe(true);
      expect(await own(codebase, process.execPath, 'verify')).toMatchObject({ code: 0 });
    });
  }

  test.concurrent('killed, and edited before it is finished: the edit is met, and kept', async () => {
    const codebase = copy();
    await killAt(codebase, points[Math.round(points.length / 3)]);
    const path = changed.find((one) => start.read(one) === codebase.read(one)) ?? '';
    const mine = `${codebase.read(path).replaceAll('isSameFile', 'isEqualFile')}// mine\n`;
    codebase.write({ [path]: mine });
    const met = await own(codebase, 'node', 'status');
    expect(met).toMatchObject({ code: 6, json: { error: { code: 'RECOVERY_NEEDS_DECISION' } } });
    expect(met.json.error?.message).toContain('--keep-mine');
    expect(await own(codebase, 'node', 'recover', '--keep-mine')).toMatchObject({ code: 0 });
    expect(codebase.read(path)).toBe(mine);
    // A snapshot shows bytes, and the text may hold more than ASCII.
    const bytes = Buffer.from(mine).toString('latin1');
    expect(snapshot(codebase)).toEqual({ ...after, tree: { ...after.tree, [path]: bytes } });
    expect(await own(codebase, 'node', 'status')).toMatchObject({ code: 0 });
  });

  test.concurrent('an edit that was kept and breaks claw itself is named, and claw works as it was built before', async () => {
    const codebase = copy();
    await killAt(codebase, points[2]);
    const path = 'packages/claw/src/verbs.ts';
    const mine = `import './nowhere.ts';\n${codebase.read(path)}`;
    codebase.write({ [path]: mine });
    const met = await own(codebase, 'node', 'status');
    expect(met).toMatchObject({ code: 6, json: { error: { code: 'RECOVERY_NEEDS_DECISION' } } });
    const kept = await own(codebase, 'node', 'recover', '--keep-mine');
    expect(kept).toMatchObject({ code: 0 });
    // Until it is mended claw runs as it was built before, and says so.
    expect(kept.stderr).toMatch(/packages\/ cannot be built: .*nowhere\.ts/s);
    expect(codebase.read(path)).toBe(mine);
    expect(codebase.read('packages/merge/src/versions.ts')).toContain('isEqualFile');
    const [last = ''] = fs.readdirSync(codebase.path('.claw/backup')).sort().reverse();
    fs.cpSync(codebase.path(`.claw/backup/${last}/conflicts/${path}.new`), codebase.path(path));
    expect(await own(codebase, 'node', 'verify')).toMatchObject({ code: 0 });
    expect(snapshot(codebase)).toEqual(after);
  });

  test.concurrent('an update killed half-way can be taken back instead, whichever half of claw is there', async () => {
    const codebase = copy();
    await killAt(codebase, points[Math.round(points.length / 2)]);
    expect(await own(codebase, 'node', 'recover', '--roll-back')).toMatchObject({ code: 0 });
    expect(snapshot(codebase)).toEqual(before);
  });
});

function update(codebase: Codebase): readonly string[] {
  return [
    process.execPath,
    codebase.path('bin/claw.js'),
    'update',
    'v0.2.0',
    '--json',
    '--cwd',
    codebase.root,
  ];
}

/** The n-th calls of each kind between the point of no return and the end of the transaction. */
function publishing(log: string): readonly { call: string; nth: number }[] {
  const counts = new Map<string, number>();
  const found: { call: string; nth: number }[] = [];
  let isOpen = false;
  for (const text of log.split('\n')) {
    const [, call = null] = /^\d+ +(\w+)\(/.exec(text) ?? [];
    if (call === null) continue;
    const nth = (counts.get(call) ?? 0) + 1;
    counts.set(call, nth);
    if (/journal\.json\.new.*journal\.json"/.test(text)) isOpen = true;
    if (isOpen) found.push({ call, nth });
    if (/record\.json/.test(text)) isOpen = false;
  }
  return found;
}

async function killAt(codebase: Codebase, point: { call: string; nth: number } | undefined) {
  if (point === undefined) throw new Error('nothing to kill at');
  const log = `${codebase.root}.log`;
  const run = await inject(update(codebase), log, { ...point, effect: 'SIGKILL' });
  fs.rmSync(log);
  expect(run.isHit).toBe(true);
}

function snapshot(codebase: Codebase): Snapshot {
  const state = Object.entries(codebase.state());
  // What is built of the packages is not part of the tree.
  const tree = Object.entries(codebase.tree()).filter(
    ([path]) => !path.startsWith('packages/claw/lib/'),
  );
  return { tree: Object.fromEntries(tree), state: Object.fromEntries(state) };
}

/** The codebase's own claw, on the Node that is given. */
async function own(codebase: Codebase, node: string, ...args: string[]) {
  const path = (process.env['PATH'] ?? '').split(':').filter((one) => !one.endsWith('.bin'));
  const run = await execa(node, ['bin/claw.js', ...args, '--json'], {
    cwd: codebase.root,
    reject: false,
    env: { PATH: path.join(':') },
  });
  try {
    return { code: run.exitCode, json: JSON.parse(run.stdout), stderr: run.stderr };
  } catch (cause) {
    throw new Error(`claw ${args.join(' ')} printed no JSON:\n${run.stdout}\n${run.stderr}`, {
      cause,
    });
  }
}
