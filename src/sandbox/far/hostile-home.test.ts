import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Engine, Mount } from '../engines/engine.ts';
import { agentUser } from '../mounts/ownership.ts';
import { ControlClient } from './control-channel.ts';
import { digestOf, type TreeEntry } from './file-tree.ts';
import { ResumableLink } from './resumable-link.ts';
import { openFarWorker } from './worker.ts';

const BYTES = Buffer.from('ssh-ed25519 AAAA… evil\n');
const FILE: TreeEntry = { kind: 'file', digest: digestOf(BYTES), isExecutable: false };
const LIMITS = { memoryBytes: 1e8, processes: 10, cpus: 1 };
const TIME = { patienceMs: 60_000, elapsed: () => performance.now() };

let dir: string;
/** Of the other machine, and nothing of the worker's. */
let outside: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-worker-'));
  outside = mkdtempSync(join(tmpdir(), 'claw-outside-'));
});
afterEach(() => {
  for (const path of [dir, outside]) rmSync(path, { recursive: true, force: true });
});

/** Opens the worker, and a home that says to it whatever it likes. */
async function hostileHome() {
  rmSync(join(dir, 'chats'), { recursive: true, force: true });
  const mounts: Mount[] = [];
  const engine: Engine = {
    name: 'none',
    description: 'nothing runs here',
    startContainer(spec) {
      mounts.push(...spec.mounts);
      throw new Error('it would run now');
    },
  };
  const handlers = new Set<(message: Buffer) => void>();
  const worker = await openFarWorker({
    ...TIME,
    engine,
    dir,
    user: agentUser({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }),
    now: Date.now,
    onProgress: () => {},
    send: (_folder, _fence, message) => {
      for (const handler of handlers) handler(message);
    },
  });
  const link = new ResumableLink({
    ...TIME,
    fence: 1,
    side: 'home',
    pipe: {
      send: (message) => worker.accept('family', 1, message),
      listen(handler) {
        handlers.add(handler);
        return () => void handlers.delete(handler);
      },
    },
    onChannel: (channel) => channel.destroy(),
    onEnd: () => {},
  });
  const control = new ControlClient(link.open(), () => {});
  await control.ask({ op: 'bytes', digest: digestOf(BYTES) }, BYTES);
  return { control, mounts, [Symbol.asyncDispose]: () => worker.close() };
}

const beginning = (files: [string, TreeEntry][], isWritable: boolean) => ({
  op: 'begin' as const,
  mounts: [{ target: '/workspace/group', isWritable, files }],
  limits: LIMITS,
  timeZone: null,
});

/** What the worker says to these files. */
async function begin(files: [string, TreeEntry][], isWritable: boolean) {
  await using home = await hostileHome();
  const asked = home.control.ask(beginning(files, isWritable));
  const problem = await asked.then(
    () => 'it runs',
    ({ message }: Error) => message,
  );
  return { problem, mounts: home.mounts };
}

test.each([true, false])(
  'a home writes nothing through a link, and mounts nothing, outside of the folder of its worker (%s)',
  async (isWritable) => {
    const out: TreeEntry = { kind: 'link', to: outside };
    const hostile: [string, TreeEntry][][] = [
      [
        ['x', out],
        ['x/authorized_keys', FILE],
      ],
      [
        ['x/authorized_keys', FILE],
        ['x', out],
      ],
      [
        ['a/b', out],
        ['a/b/c/d', { kind: 'link', to: 'x' }],
      ],
      [['', out]],
      [
        ['', FILE],
        ['x', FILE],
      ],
    ];
    for (const files of hostile) {
      const { problem, mounts } = await begin(files, isWritable);
      expect([files, problem, mounts, readdirSync(outside)]).toEqual([
        files,
        expect.stringContaining('must be files of one folder'),
        [],
        [],
      ]);
    }
    // As a home of ours has it.
    const own: [string, TreeEntry][] = [
      ['x', out],
      ['y/authorized_keys', FILE],
    ];
    expect((await begin(own, isWritable)).problem).toBe('it would run now');
    // A mount that is one file is only read.
    if (!isWritable) expect((await begin([['', FILE]], false)).problem).toBe('it would run now');
  },
);

test('a home changes no file before all are laid out, and lays them out once', async () => {
  await using home = await hostileHome();
  const { control } = home;
  const later: TreeEntry = { ...FILE, digest: digestOf(Buffer.from('later')) };
  await control.ask(
    beginning(
      [
        ['x/authorized_keys', FILE],
        ['later', later],
      ],
      true,
    ),
  );
  const wanted: TreeEntry = { kind: 'link', to: outside };
  const changes = [{ path: 'x', expected: null, wanted }];
  await expect(control.ask({ op: 'change', mount: 0, changes })).rejects.toThrow('no such mount');
  await expect(control.ask({ op: 'run' })).rejects.toThrow('it would run now');
  await expect(control.ask({ op: 'run' })).rejects.toThrow('nothing was begun');
  expect(readdirSync(outside)).toEqual([]);
});
