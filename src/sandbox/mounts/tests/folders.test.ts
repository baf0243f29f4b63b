import { execFileSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { engineAddresses } from '../../engines/daemon/find.ts';
import { makeSocketFolder, removePrivateFolder, socketPath } from '../../protocol/socket-folder.ts';
import { groupMounts } from '../mounts.ts';
import { agentUser, giveFolder } from '../ownership.ts';

const isRoot = process.getuid?.() === 0;
let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'claw-folders-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test.runIf(isRoot)(
  'while a folder of many files is given away, other work has its turn',
  async () => {
    const names = Array.from({ length: 2_000 }, (_, at) => join(dir, `group/${at}`));
    await mkdir(join(dir, 'group'));
    for (const name of names) writeFileSync(name, '');
    let turns = 0;
    let isOver = false;
    const others = (async () => {
      while (!isOver) {
        await setImmediate();
        turns += 1;
      }
    })();
    await giveFolder(join(dir, 'group'), { uid: 1000, gid: 1000 });
    isOver = true;
    await others;
    // At most a hundred files are looked at in one go.
    expect(turns).toBeGreaterThanOrEqual(20);
    for (const name of names) expect(statSync(name).uid).toBe(1000);
  },
);

test.runIf(isRoot)('giving a folder away gives links away, never what they point to', async () => {
  await writeFile(join(dir, 'secret'), 'of the host');
  await mkdir(join(dir, 'outside'));
  await writeFile(join(dir, 'outside/file'), 'of the host');
  await mkdir(join(dir, 'group/sub'), { recursive: true });
  await writeFile(join(dir, 'group/sub/file'), 'of the group');
  await symlink(join(dir, 'secret'), join(dir, 'group/link'));
  await symlink(join(dir, 'outside'), join(dir, 'group/folder'));
  await giveFolder(join(dir, 'group'), { uid: 1000, gid: 1000 });
  const owners = async (path: string) => (await lstat(join(dir, path))).uid;
  expect(await owners('group/sub/file')).toBe(1000);
  expect(await owners('group/link')).toBe(1000);
  expect(await owners('secret')).toBe(0);
  expect(await owners('outside')).toBe(0);
  expect(await owners('outside/file')).toBe(0);
});

test.runIf(isRoot)('a folder deeper than any path can name does not stop its group', async () => {
  await mkdir(join(dir, 'group'));
  const name = 'd'.repeat(200);
  const deeper = `for i in $(seq 30); do mkdir ${name} && cd ${name} || exit 1; done`;
  execFileSync('bash', ['-c', deeper], { cwd: join(dir, 'group') });
  await giveFolder(join(dir, 'group'), { uid: 1000, gid: 1000 });
  expect((await lstat(join(dir, 'group', name))).uid).toBe(1000);
  execFileSync('rm', ['-rf', join(dir, 'group')]);
});

test.runIf(isRoot)('names that are no UTF-8 do not stop a group, and are given away', async () => {
  await mkdir(join(dir, 'group'));
  const path = Buffer.concat([Buffer.from(join(dir, 'group/caf')), Buffer.from([0xe9])]);
  await mkdir(path);
  await writeFile(Buffer.concat([path, Buffer.from('/file')]), 'of the owner');
  await giveFolder(join(dir, 'group'), { uid: 1000, gid: 1000 });
  expect((await lstat(path)).uid).toBe(1000);
  expect((await lstat(Buffer.concat([path, Buffer.from('/file')]))).uid).toBe(1000);
});

test('root gives the agent a user of its own, anybody else runs it as themselves', () => {
  expect(agentUser({ uid: 0, gid: 0 })).toEqual({ uid: 1000, gid: 1000 });
  expect(agentUser({ uid: 501, gid: 20 })).toEqual({ uid: 501, gid: 20 });
});

test('sockets lie in the data folder, or where the owner says, and stay short', async () => {
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const parts = { dataDir: dir, folder: 'family', socketDir: null, user };
  expect(await makeSocketFolder(parts)).toMatch(`${dir}/run/`);
  const chosen = join(dir, 'sockets');
  expect(await makeSocketFolder({ ...parts, socketDir: chosen })).toMatch(`${chosen}/`);
  const deep = join(dir, 'x'.repeat(120));
  const short = await makeSocketFolder({ ...parts, dataDir: deep });
  expect(Buffer.byteLength(socketPath(short))).toBeLessThan(100);
  expect((await lstat(join(short, '..'))).mode & 0o777).toBe(0o700);
  await removePrivateFolder(deep);
  await expect(lstat(join(short, '..'))).rejects.toThrow('ENOENT');
  await expect(makeSocketFolder({ ...parts, socketDir: deep })).rejects.toThrow('CLAW_SOCKETS');
});

test('two installations that share a folder for sockets do not share sockets', async () => {
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const shared = { folder: 'family', socketDir: join(dir, 'sockets'), user };
  const one = await makeSocketFolder({ ...shared, dataDir: join(dir, 'one') });
  expect(await makeSocketFolder({ ...shared, dataDir: join(dir, 'two') })).not.toBe(one);
});

test('a group sees its folders and the socket; main also named entries of the project', () => {
  const places = {
    projectDir: '/p',
    dataDir: '/d',
    folder: 'family',
    isMain: false,
    socketDir: '/s',
    bundle: '/d/cache/agent-0',
    bundleFiles: ['agent.mjs', 'turns.mjs'],
  };
  const present = new Set([
    'src',
    '.env',
    'data',
    'groups',
    'package.json',
    'node_modules',
    '.git',
  ]);
  expect(groupMounts(places, present)).toEqual([
    { source: '/p/groups/family', target: '/workspace/group', isWritable: true },
    { source: '/d/sessions/family/.claude', target: '/home/node/.claude', isWritable: true },
    { source: '/p/groups/global', target: '/workspace/global', isWritable: false },
    { source: '/d/media/family', target: '/workspace/media', isWritable: false },
    { source: '/s', target: '/run/claw', isWritable: false },
    { source: '/d/cache/agent-0/agent.mjs', target: '/opt/claw/agent.mjs', isWritable: false },
    { source: '/d/cache/agent-0/turns.mjs', target: '/opt/claw/turns.mjs', isWritable: false },
  ]);
  const main = groupMounts({ ...places, folder: 'main', isMain: true }, present);
  expect(main[2]).toMatchObject({ target: '/workspace/global', isWritable: false });
  expect(main.slice(7)).toEqual([
    { source: '/p/package.json', target: '/workspace/project/package.json', isWritable: false },
    { source: '/p/src', target: '/workspace/project/src', isWritable: false },
  ]);
});

test('an engine is looked for where it usually listens, or only where DOCKER_HOST says', () => {
  const parts = { dockerHost: null, uid: 501, homeDir: '/home/ada' };
  expect(engineAddresses('docker', parts)).toEqual([
    { socketPath: '/var/run/docker.sock' },
    { socketPath: '/run/user/501/docker.sock' },
    { socketPath: '/home/ada/.docker/run/docker.sock' },
  ]);
  expect(engineAddresses('podman', { ...parts, uid: 0 })).toEqual([
    { socketPath: '/run/podman/podman.sock' },
  ]);
  const given = (dockerHost: string) => engineAddresses('docker', { ...parts, dockerHost });
  expect(given('unix:///tmp/d.sock')).toEqual([{ socketPath: '/tmp/d.sock' }]);
  expect(given('tcp://10.0.0.2:2375')).toEqual([
    { protocol: 'http', host: '10.0.0.2', port: 2375 },
  ]);
  expect(given('ssh://ada@far')).toEqual([]);
});

test('the main group reads all folders of code, whichever join', () => {
  const root = join(import.meta.dirname, '../../../..');
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name);
  const isPrivate = new Set(['changes', 'data', 'dist', 'groups', 'node_modules']);
  const places = {
    projectDir: '/project',
    dataDir: '/project/data',
    folder: 'main',
    isMain: true,
    socketDir: '/socket',
    bundle: '/bundle',
    bundleFiles: [],
  };
  const seen = groupMounts(places, new Set(folders)).map(({ target }) => target);
  const code = folders.filter((name) => !isPrivate.has(name));
  expect(code.filter((name) => !seen.includes(`/workspace/project/${name}`))).toEqual([]);
  for (const name of isPrivate) expect(seen).not.toContain(`/workspace/project/${name}`);
});
