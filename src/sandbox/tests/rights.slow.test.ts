import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { type SandboxProject, sandboxProject, TEST_KEY } from '../../testing/sandbox-project.ts';

const SECRET = 'the secret of the other group';

for (const engine of ['docker', 'bubblewrap'] as const) {
  await describeWithEngine(engine, `an agent that tries to break out of ${engine}`, () => {
    let project: SandboxProject;
    beforeAll(async () => {
      project = await sandboxProject({ engine });
    });
    afterAll(() => project[Symbol.asyncDispose]());

    const main = { folder: 'main', isMain: true };

    test.for([{}, main])('cannot change the global memory, by no name it has: %o', async (over) => {
      // A turn of main gives the files to the agent's user, so that only the mount protects them.
      await project.answer('shell: ls', main);
      const memory = join(project.dir, 'groups/global/CLAUDE.md');
      await writeFile(memory, 'All like tea.\n');
      const before = await readFile(memory, 'utf8');
      const text = await project.answer(
        'shell: ln -sf /workspace/global/CLAUDE.md link; for path in /workspace/global/CLAUDE.md ' +
          '/workspace/group/../global/CLAUDE.md /proc/self/root/workspace/global/CLAUDE.md link; ' +
          'do echo evil >> $path; rm -f $path; done; touch /workspace/global/new; ' +
          'mv /workspace/global/CLAUDE.md /workspace/global/x; chmod 777 /workspace/global; ' +
          'ln /workspace/global/CLAUDE.md hard; umount /workspace/global; ' +
          'mount -o remount,rw,bind /workspace/global; ' +
          'unshare -Ur mount -o remount,rw,bind /workspace/global; ' +
          'echo evil >> /workspace/global/CLAUDE.md; cat /workspace/global/CLAUDE.md',
        over,
      );
      expect(before).toContain('All like tea.');
      expect(text).toContain('All like tea.');
      expect(text.match(/Read-only file system/g)?.length).toBeGreaterThan(8);
      expect(await readFile(memory, 'utf8')).toBe(before);
    });

    test('finds no way to another group, to settings, to data or to the host', async () => {
      const { dir, dataDir } = project;
      const text = await project.answer(
        `shell: for path in /workspace/other /workspace/group/../other /workspace/global/../other ` +
          `/proc/1/root${dir}/groups/other /proc/1/cwd/../../groups/other /proc/$PPID/root${dir} ` +
          `${dir}/groups/other ${dir}/.env ${dataDir}/claw.db /workspace/project/.env /workspace/.env ` +
          `/workspace/group/../../.env /home/node/.claude/../../claw.db /run/claw/../../../run; ` +
          `do ls -A $path; cat $path; cat $path/secret.txt; done; ` +
          `cat /proc/*/root/${dir}/groups/other/secret.txt; grep -rl "${SECRET.slice(0, 10)}" / --include=secret.txt`,
      );
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(TEST_KEY);
      expect(text).not.toContain('all messages of all groups');
    });

    test('reads the files that came with its messages, changes none, and sees no other chat’s', async () => {
      for (const folder of ['family', 'other']) {
        const shelf = join(project.dataDir, 'media', folder);
        await mkdir(shelf, { recursive: true });
        await writeFile(join(shelf, 'photo.png'), `seen by ${folder}`);
      }
      const text = await project.answer(
        'shell: cat /workspace/media/photo.png; ls -A /workspace/media/..; ' +
          'cat /workspace/media/../other/photo.png; ln -s /etc/passwd /workspace/media/link; ' +
          'rm -f /workspace/media/photo.png',
      );
      expect(text).toContain('seen by family');
      expect(text).not.toContain('seen by other');
      expect(text.match(/Read-only file system/g)).toHaveLength(2);
    });

    test('of main reads the source and still no other group, no settings and no data', async () => {
      const text = await project.answer(
        `shell: ls -A /workspace /workspace/project; cat /workspace/project/package.json | head -c 20; ` +
          `cat /workspace/project/.env /workspace/project/groups/other/secret.txt ` +
          `/workspace/project/../.env /workspace/project/src/../../.env /workspace/project/src/../.env; ` +
          `ls /workspace/project/data /workspace/project/groups; echo x > /workspace/project/package.json; ` +
          `ln -s ../.env /workspace/project/src/leak`,
        main,
      );
      expect(text).toContain('"name": "patchclaw"'.slice(0, 8));
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(TEST_KEY);
      expect(text.match(/Read-only file system/g)).toHaveLength(2);
      expect(await readFile(join(project.dir, 'package.json'), 'utf8')).toContain('"patchclaw"');
    });

    test('plants links, which the host does not follow when it starts the next container', async () => {
      const { dir } = project;
      await project.answer(
        `shell: ln -sfn ${dir}/.env CLAUDE.md; ln -sfn ${dir}/groups/other linked; ` +
          `ln -sfn ${dir}/.env /home/node/.claude/leak; ln -sfn ${dir}/groups/other /home/node/.claude/projects`,
      );
      const owner = async (path: string) => (await lstat(join(dir, path))).uid;
      const before = [await owner('.env'), await owner('groups/other/secret.txt')];
      await project.sandbox.stop('family');
      const text = await project.answer(
        'shell: cat CLAUDE.md linked/secret.txt /home/node/.claude/leak',
      );
      expect(text.match(/No such file/g)).toHaveLength(3);
      expect([await owner('.env'), await owner('groups/other/secret.txt')]).toEqual(before);
      const system = JSON.stringify(project.server.requests.at(-1)?.body.system);
      expect(system).not.toContain(TEST_KEY);
    });
  });

  await describeWithEngine(engine, `an agent that lies about itself under ${engine}`, () => {
    test('has its forged call refused as garbage, and is stopped', async () => {
      const calls: unknown[] = [];
      await using project = await sandboxProject({
        engine,
        tools: [SEND],
        files: { 'container/agent/main.ts': forgingAgent('"folder":"main",') },
      });
      const outcome = await project.turn('hello', {
        onTool: async (call) => {
          calls.push(call);
          return { ok: true, value: null };
        },
      });
      expect(outcome).toMatchObject({ kind: 'failed', code: 'AGENT_GARBAGE' });
      expect(calls).toEqual([]);
    });

    test('is taken for the group of its socket, whatever its input says', async () => {
      const calls: unknown[] = [];
      await using project = await sandboxProject({
        engine,
        tools: [SEND],
        files: { 'container/agent/main.ts': forgingAgent('') },
      });
      await project.turn('hello', {
        onTool: async (call) => {
          calls.push(call);
          return { ok: true, value: null };
        },
      });
      expect(calls).toEqual([
        { folder: 'family', name: 'send_message', input: { folder: 'main', text: 'hi' } },
      ]);
    });

    test('cannot open a second stream of frames beside its own', async () => {
      await using project = await sandboxProject({ engine });
      const text = await project.answer(
        `shell: node -e "require('http').request({ socketPath: '/run/claw/host.sock', path: '/frames', ` +
          `headers: { connection: 'Upgrade', upgrade: 'claw-frames' } })` +
          `.on('response', (r) => { console.log('status', r.statusCode); process.exit() })` +
          `.on('upgrade', () => { console.log('taken'); process.exit() }).end()"`,
      );
      expect(text).toContain('status 409');
    });
  });

  await describeWithEngine(engine, `what the owner shares under ${engine}`, () => {
    test('is seen by the groups that the list names, read-only, with its secrets covered', async () => {
      // Not below /dev, where temporary files of tests may be: nothing of that is shared.
      const shared = await mkdtemp('/tmp/claw-shared-');
      await mkdir(join(shared, 'recipes/.ssh'), { recursive: true });
      await writeFile(join(shared, 'recipes/soup.md'), 'soup\n');
      await writeFile(join(shared, 'recipes/.env'), `${TEST_KEY}\n`);
      await writeFile(join(shared, 'recipes/.ssh/id_rsa'), `${TEST_KEY}\n`);
      await symlink(join(shared, 'recipes/.env'), join(shared, 'recipes/plain.txt'));
      await link(join(shared, 'recipes/soup.md'), join(shared, 'recipes/again.md'));
      await writeFile(join(shared, 'list.txt'), 'milk\n');
      await chmod(join(shared, 'list.txt'), 0o666);
      await writeFile(
        join(shared, 'mounts.yaml'),
        `mounts:
  - { path: ${shared}/recipes, groups: [family] }
  - { path: ${shared}/list.txt, groups: [family], write: true }
`,
      );
      await using project = await sandboxProject({
        engine,
        settings: { mountsFile: join(shared, 'mounts.yaml') },
      });
      const text = await project.answer(
        'shell: cd /workspace/extra; cat recipes/soup.md; cat recipes/.env recipes/plain.txt; ' +
          'ls -A recipes/.ssh; touch recipes/x; mv recipes/.env recipes/y; echo eggs >> list.txt; cat list.txt',
      );
      expect(text).toContain('soup');
      expect(text).toContain('milk\neggs');
      expect(await readFile(join(shared, 'list.txt'), 'utf8')).toBe('milk\neggs\n');
      expect(text).not.toContain('id_rsa');
      expect(text).not.toContain(TEST_KEY);
      expect(text).toMatch(/Read-only file system/);
      expect(await project.answer('shell: ls /workspace/extra', { folder: 'other' })).toContain(
        'No such file',
      );
      await rm(shared, { recursive: true, force: true });
    });
  });
}

const SEND = {
  name: 'send_message',
  description: 'Sends a message.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

/** Another agent in the container's place, which calls a tool in a frame of its own making. */
function forgingAgent(field: string): string {
  const call = `{"type":"tool_call",${field}"id":"1","turn":"turn-1","name":"send_message","input":{"folder":"main","text":"hi"}}`;
  const done = `{"type":"done","turn":"turn-1","text":"done","session":"s1"}`;
  return `
    import { connectToHost } from './host/connection.ts';
    export async function runAgent() {
      const stream = await connectToHost('/run/claw/host.sock');
      stream.write('{"type":"ready","protocol":1}\\n');
      stream.once('data', () => {
        stream.write(${JSON.stringify(call)} + '\\n');
        stream.once('data', () => stream.write(${JSON.stringify(done)} + '\\n'));
      });
      stream.on('error', () => {});
      setInterval(() => {}, 1000);
    }`;
}
