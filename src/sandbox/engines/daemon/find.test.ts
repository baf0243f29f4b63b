import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Root may use every socket: a process of another user asks in its place. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const FIND = join(import.meta.dirname, 'find.ts');

let folder: string;
beforeAll(() => {
  // Not in the folder of these tests, which is closed to others.
  folder = mkdtempSync('/tmp/find-daemon-');
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

function reasonAt(address: string): string {
  const parts = { name: 'docker', dockerHost: address, homeDir: folder, uid: 65_534 };
  const paths = { dataDir: folder, projectDir: folder, baseImage: null };
  const program = `
    import { daemonFinder } from ${JSON.stringify(FIND)};
    const finder = daemonFinder(${JSON.stringify({ ...parts, ...paths })});
    await finder.look().catch((error) => console.log(error.message));`;
  const args = ['--input-type=module', '-e', program];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8', ...USER });
  expect(run.stderr).toBe('');
  return run.stdout.trim();
}

// A clone in root's own home can be read by root alone.
test.runIf(spawnSync('test', ['-r', FIND], USER).status === 0)(
  'no daemon, one that has ended, and one that this user may not use are told apart',
  async () => {
    const socket = join(folder, 'docker.sock');
    const address = `unix://${socket}`;
    expect(reasonAt(address)).toBe('no daemon answers.');
    const server = createServer((connection) => connection.destroy());
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    server.unref();
    chmodSync(socket, 0o666);
    expect(reasonAt(address)).toBe(`no daemon answers on ${socket}: start it.`);
    chmodSync(socket, 0);
    expect(reasonAt(address)).toMatch(/^you may not use .*docker\.sock\. Join the group/);
    server.close();
  },
);
