import { once } from 'node:events';
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProgramSpec } from '../../lib/program.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import { type SandboxProject, sandboxProject } from '../../testing/sandbox-project.ts';

for (const engine of ['docker', 'bubblewrap'] as const) {
  await describeWithEngine(engine, `a program under ${engine}`, () => {
    let project: SandboxProject;
    beforeAll(async () => {
      project = await sandboxProject({ engine });
      await mkdir(join(project.dataDir, 'files'));
      await writeFile(join(project.dataDir, 'files/hello.mjs'), "console.log('from a file');\n");
    });
    afterAll(() => project[Symbol.asyncDispose]());

    const spec = (
      command: ProgramSpec['command'],
      over: Partial<ProgramSpec> = {},
    ): ProgramSpec => ({
      name: 'test',
      sharedAs: 'test:program',
      command,
      environment: {},
      filesDir: null,
      homeDir: join(project.dataDir, 'home'),
      hasNetwork: false,
      ...over,
    });
    const run = async (command: ProgramSpec['command'], over: Partial<ProgramSpec> = {}) => {
      const program = await project.sandbox.startProgram(spec(command, over));
      const [out, , ended] = await Promise.all([
        text(program.stdout),
        text(program.stderr),
        program.ended,
      ]);
      await program.stop();
      return { out: out.trim(), ended };
    };

    test('gets what is written to it, and what it says comes back, until it is stopped', async () => {
      const program = await project.sandbox.startProgram(spec(['cat']));
      program.stdin.write('one\ntwo\n');
      const [first] = await once(program.stdout, 'data');
      expect(String(first)).toMatch(/^one/);
      await program.stop();
      expect(await program.ended).toEqual(expect.any(String));
    });

    test('sees its own files and home, and of the project nothing', async () => {
      const files = { filesDir: join(project.dataDir, 'files') };
      expect((await run(['node', '/opt/program/hello.mjs'], files)).out).toBe('from a file');
      expect((await run(['sh', '-c', 'echo 1 > /opt/program/x || echo no'], files)).out).toBe('no');
      await run(['sh', '-c', 'echo kept > ~/note']);
      expect(await readFile(join(project.dataDir, 'home/note'), 'utf8')).toBe('kept\n');
      const look = 'ls /workspace/group /workspace/project /run/claw 2>/dev/null; id -u; env';
      const { out } = await run(['sh', '-c', look], { environment: { KEY: 'k1' } });
      const [user, ...variables] = out.split('\n');
      expect(user).not.toBe('0');
      expect(variables).toContain('KEY=k1');
      expect(variables.join('\n')).not.toMatch(/CLAW|ANTHROPIC/);
    });

    test('that ends by itself is told of, with its reason', async () => {
      expect((await run(['sh', '-c', 'exit 3'])).ended).toMatch(/exit code 3/);
    });

    test('reaches the network only where it may', async () => {
      const server = createServer((_request, response) => response.end('reached'));
      await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
      const { port } = server.address() as AddressInfo;
      const asked = `
        const hosts = ['127.0.0.1', '172.17.0.1'];
        const calls = hosts.map((host) => fetch('http://' + host + ':${port}').then((r) => r.text()));
        Promise.any(calls).then(console.log, () => console.log('closed'));`;
      expect((await run(['node', '-e', asked])).out).toBe('closed');
      expect((await run(['node', '-e', asked], { hasNetwork: true })).out).toBe('reached');
      server.close();
    });

    test('sees what the owner shares with it by its name', async () => {
      // Nothing of /dev can be shared, where the tests' temporary folder may be.
      await using place = await mkdtempDisposable('/var/tmp/claw-shared-');
      const shared = join(place.path, 'notes');
      await mkdir(shared);
      await writeFile(join(shared, 'a.txt'), 'shared');
      const list = join(place.path, 'mounts.yaml');
      await writeFile(
        list,
        `mounts:\n  - { path: ${shared}, as: notes, groups: ['test:program'] }\n`,
      );
      await using other = await sandboxProject({ engine, settings: { mountsFile: list } });
      const program = await other.sandbox.startProgram({
        ...spec(['cat', '/workspace/extra/notes/a.txt']),
        homeDir: join(other.dataDir, 'home'),
      });
      expect(await text(program.stdout)).toBe('shared');
    });

    test('is stopped with the sandbox, and none is started after', async () => {
      const other = await sandboxProject({ engine });
      const home = { homeDir: join(other.dataDir, 'home') };
      const program = await other.sandbox.startProgram({ ...spec(['cat']), ...home });
      await other.sandbox.close();
      await program.ended;
      await expect(other.sandbox.startProgram({ ...spec(['cat']), ...home })).rejects.toThrow(
        'shutting down',
      );
      await other[Symbol.asyncDispose]();
    });
  });
}
