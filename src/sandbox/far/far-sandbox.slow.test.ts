import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { type FarMachine, farMachine } from '../../testing/far-machine.ts';
import { type SandboxProjectParts, sandboxProject } from '../../testing/sandbox-project.ts';
import { openBubblewrap } from '../engines/bwrap/bwrap.ts';
import { agentUser } from '../mounts/ownership.ts';
import { endMessage } from './resumable-link.ts';

/** The message with which a home begins a container under a number. */
function firstRecord(fence: number): Buffer {
  const message = Buffer.alloc(30);
  message[0] = 4;
  message.writeUIntBE(fence, 1, 6);
  message.writeUIntBE(1, 13, 6);
  return message;
}

await describeWithEngine('bubblewrap', 'a chat on another machine', () => {
  test('is answered there, without a network, and its files are at home after the turn', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas);
    await using _ = project;
    const where = await project.answer(
      'shell: grep -c : /proc/net/dev; echo written > far.txt; cat CLAUDE.md; ls /workspace/group',
    );
    expect(where).toContain('The family likes short answers.');
    expect(where).toMatch(/^1\n/m);
    expect(nas.progress).toContain('runs family under number 1');
    expect(await readFile(join(project.dir, 'groups/family/far.txt'), 'utf8')).toBe('written\n');
    // The conversation, too: the next turn may be at home.
    expect(await readdir(join(project.dataDir, 'sessions/family/.claude'))).not.toEqual([]);
    expect(await project.answer('hello')).toBe('You said: hello');
    expect(nas.places.fences).toEqual([1]);
  });

  test('a second container gets only what has changed', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas);
    await using _ = project;
    await project.answer('hello');
    const first = nas.sentBytes();
    await project.sandbox.stop('family');
    expect(await readdir(join(nas.dir, 'chats'))).toEqual([]);
    await project.answer('hello again');
    expect(first).toBeGreaterThan(1_000_000);
    expect(nas.sentBytes() - first).toBeLessThan(200_000);
    expect(nas.places.fences).toEqual([1, 2]);
  });

  test('two chats whose containers start at once bring the same contents, and both are answered', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas);
    await using _ = project;
    const both = ['family', 'other'].map((folder) => project.answer('hello', { folder }));
    expect(await Promise.all(both)).toEqual(['You said: hello', 'You said: hello']);
    expect(nas.places.fences).toHaveLength(2);
  });

  test('a link that is lost while contents are under way fails the start, and nothing else', async () => {
    await using nas = await farMachine({ patienceMs: 2_000 });
    const { project } = await projectWith(nas);
    await using _ = project;
    vi.spyOn(nas.asked, 'push').mockImplementation((op) => {
      if (op === 'run') nas.cut();
      return 0;
    });
    const starting = project.turn('hello');
    // A promise that nobody waits for would end the assistant, and here the test.
    expect(await starting).toMatchObject({ kind: 'failed', code: 'MACHINE_LOST' });
    nas.mend();
    vi.restoreAllMocks();
    expect(await project.answer('hello')).toBe('You said: hello');
  });

  test('a machine that cannot start the container of a chat is left alone for a while: the next attempt is at home', async () => {
    const engine = await bubblewrap();
    const starts = vi.fn(engine.startContainer);
    starts.mockRejectedValueOnce(new Error('the daemon does not answer'));
    await using nas = await farMachine({ engine: { ...engine, startContainer: starts } });
    const { project } = await projectWith(nas);
    await using _ = project;
    expect(await project.turn('hello')).toMatchObject({ kind: 'failed', code: 'MACHINE_LOST' });
    expect(await project.answer('hello')).toBe('You said: hello');
    expect(starts).toHaveBeenCalledTimes(1);
    // Another chat tries for itself.
    expect(await project.answer('hello', { folder: 'other' })).toBe('You said: hello');
    expect(starts).toHaveBeenCalledTimes(2);
  });

  test('an engine that goes away with its agents is a lost machine, not a lost agent', async () => {
    const engine = await bubblewrap();
    const gone = Promise.withResolvers<string>();
    await using nas = await farMachine({
      engine: {
        ...engine,
        async startContainer(spec) {
          const container = await engine.startContainer(spec);
          const ended = Promise.race([container.ended, gone.promise]);
          return { ...container, ended, isEngineLost: true };
        },
      },
    });
    const { project } = await projectWith(nas);
    await using _ = project;
    await project.answer('hello');
    const asked = project.turn('shell: echo there > begun; sleep 600');
    await vi.waitFor(() => expect(nas.fileOf('family', 'begun')).toBe('there\n'));
    gone.resolve('its container is gone');
    expect(await asked).toMatchObject({ kind: 'failed', code: 'MACHINE_LOST' });
  });

  test('where machines are lost twice in a row, as in an upgrade of all of them, the third attempt is at home', async () => {
    const engine = await bubblewrap();
    const running: PromiseWithResolvers<string>[] = [];
    await using nas = await farMachine({
      engine: {
        ...engine,
        async startContainer(spec) {
          const container = await engine.startContainer(spec);
          const gone = Promise.withResolvers<string>();
          running.push(gone);
          const ended = Promise.race([container.ended, gone.promise]);
          return { ...container, ended, isEngineLost: true };
        },
      },
    });
    const { project } = await projectWith(nas);
    await using _ = project;
    for (const attempt of [1, 2]) {
      const asked = project.turn(`shell: echo ${attempt} > begun; sleep 600`);
      await vi.waitFor(() => expect(nas.fileOf('family', 'begun')).toBe(`${attempt}\n`));
      running.at(-1)?.resolve('its container is gone');
      expect(await asked).toMatchObject({ kind: 'failed', code: 'MACHINE_LOST' });
    }
    expect(await project.answer('hello')).toBe('You said: hello');
    expect(running).toHaveLength(2);
  });

  test('a link that is down for seconds delays the turn and loses nothing of it', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas);
    await using _ = project;
    await project.answer('hello');
    const asked = project.turn('shell: echo once >> count; sleep 0.5; cat count');
    await vi.waitFor(() => expect(project.server.requests).toHaveLength(2));
    nas.cut();
    await sleep(2_500);
    nas.mend();
    expect(await asked).toMatchObject({ kind: 'answered', text: 'once\n[exit code 0]' });
    expect(project.server.requests).toHaveLength(3);
  });

  test('a link that is down for longer than the patience gives the turn up as lost with its machine', async () => {
    await using nas = await farMachine({ patienceMs: 2_000 });
    const { project } = await projectWith(nas);
    await using _ = project;
    await project.answer('hello');
    const asked = project.turn('shell: echo kept > late.txt; sleep 600');
    await vi.waitFor(() => expect(nas.fileOf('family', 'late.txt')).toBe('kept\n'));
    nas.cut();
    nas.machineState = 'away';
    expect(await asked).toMatchObject({ kind: 'failed', code: 'MACHINE_LOST' });
    // At home it goes on.
    expect(await project.answer('hello')).toBe('You said: hello');
    expect(existsSync(join(project.dir, 'groups/family/late.txt'))).toBe(false);
    // The machine is back, and what was written there comes home.
    await vi.waitFor(() => expect(nas.worker.running()).toBe(0));
    nas.machineState = 'here';
    nas.mend();
    await nas.filesLeft();
    await vi.waitFor(async () =>
      expect(await readFile(join(project.dir, 'groups/family/late.txt'), 'utf8')).toBe('kept\n'),
    );
    await vi.waitFor(async () => expect(await readdir(join(nas.dir, 'chats'))).toEqual([]));
  });

  test('a worker that was killed is known by its successor, and both writers keep their lines', async () => {
    await using nas = await farMachine();
    const { project, told } = await projectWith(nas);
    await using _ = project;
    const notes = join(project.dir, 'groups/family/notes.md');
    await writeFile(notes, 'one\ntwo\nthree\nfour\nfive\n');
    await project.answer('hello');
    const asked = project.turn(
      "shell: sed -i 's/one/ONE/' notes.md; echo far > only-far; sleep 600",
    );
    await vi.waitFor(() => expect(nas.fileOf('family', 'only-far')).toBe('far\n'));
    await writeFile(notes, 'one\ntwo\nthree\nfour\nFIVE\n');
    await nas.replaceWorker();
    nas.mend();
    expect(await asked).toMatchObject({ kind: 'failed', code: 'MACHINE_LOST' });
    // The next container there takes over what the killed one left.
    expect(await project.answer('shell: cat notes.md only-far')).toBe(
      'ONE\ntwo\nthree\nfour\nFIVE\nfar\n[exit code 0]',
    );
    expect(await readFile(notes, 'utf8')).toBe('ONE\ntwo\nthree\nfour\nFIVE\n');
    expect(told).toEqual([]);
  });

  test('two versions that do not go together: the home keeps its own, the other is beside, and the owner is told', async () => {
    await using nas = await farMachine();
    const { project, told } = await projectWith(nas);
    await using _ = project;
    const notes = join(project.dir, 'groups/family/notes.md');
    await writeFile(notes, 'tea\n');
    await project.answer('hello');
    const asked = project.turn('shell: echo coffee > notes.md; sleep 600');
    await vi.waitFor(() => expect(nas.fileOf('family', 'notes.md')).toBe('coffee\n'));
    await writeFile(notes, 'water\n');
    await project.sandbox.stop('family');
    await asked;
    await vi.waitFor(() => expect(told).toHaveLength(1));
    expect(told[0]).toContain('`notes.md` was changed here and on nas');
    expect(told[0]).toMatch(/water[\s\S]*coffee/);
    expect(await readFile(notes, 'utf8')).toBe('water\n');
    const beside = join(project.dir, 'groups/family/notes.from-nas.md');
    expect(await readFile(beside, 'utf8')).toBe('coffee\n');
  });

  test('many conflicts of one turn are one message, with their number', async () => {
    await using nas = await farMachine();
    const { project, told } = await projectWith(nas);
    await using _ = project;
    const home = (name: string) => join(project.dir, 'groups/family', name);
    const names = Array.from({ length: 12 }, (_, index) => `note-${index}.md`);
    for (const name of names) await writeFile(home(name), 'tea\n');
    await project.answer('hello');
    const asked = project.turn(
      'shell: for f in note-*.md; do echo coffee > $f; done; touch ready; while test ! -e go; do sleep 0.1; done',
    );
    await vi.waitFor(() => expect(nas.fileOf('family', 'ready')).toBe(''));
    for (const name of names) await writeFile(home(name), 'water\n');
    await writeFile(join(nas.dir, 'chats/family/0/go'), '');
    expect(await asked).toMatchObject({ kind: 'answered' });
    await vi.waitFor(() => expect(told).not.toEqual([]));
    expect(told).toEqual([expect.stringContaining('12 files were changed here and on nas')]);
    expect(told[0]).toContain('`note-0.from-nas.md`');
    expect(told[0]).toContain('and 7 more');
    expect(await readFile(home('note-3.md'), 'utf8')).toBe('water\n');
  });

  test('what a chat may hold at home is a limit: more is not taken, stays there, and the owner is told once', async () => {
    const filesLimit = { bytes: 3_000_000, files: 200, settings: '`A_SETTING`' };
    await using nas = await farMachine({ filesLimit });
    const { project, told } = await projectWith(nas);
    await using _ = project;
    const home = (name: string) => join(project.dir, 'groups/family', name);
    await project.answer('shell: head -c 1000000 /dev/zero > first');
    await project.answer('shell: head -c 4000000 /dev/zero > large; echo small > small');
    await vi.waitFor(() => expect(told).not.toEqual([]));
    expect(told).toEqual([
      expect.stringMatching(/^A file was not taken from nas: `large`.*A_SETTING/),
    ]);
    expect(existsSync(home('large'))).toBe(false);
    expect(await readFile(home('small'), 'utf8')).toBe('small\n');
    // What is here may change and go as before.
    await project.answer('shell: head -c 900000 /dev/zero > first; rm small');
    expect((await readFile(home('first'))).length).toBe(900_000);
    expect(existsSync(home('small'))).toBe(false);
    expect(told).toHaveLength(1);
    await project.sandbox.stop('family');
    const [, place = ''] = /stays on nas, in `([^`]+)`/.exec(told[1] ?? '') ?? [];
    expect(
      (await readdir(place, { recursive: true })).filter((path) => path.endsWith('/large')),
    ).toHaveLength(1);

    await project.answer('shell: for n in $(seq 300); do echo $n > many-$n; done');
    await vi.waitFor(() => expect(told).toHaveLength(3));
    expect(told[2]).toMatch(/^\d+ files were not taken from nas: .* more\. /);
    expect((await readdir(join(project.dir, 'groups/family'))).length).toBeLessThanOrEqual(200);
    expect(told).toHaveLength(3);
  });

  test('a host tool reads what the agent has just written, and the agent what the tool wrote', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas, {
      tools: [{ name: 'look', description: 'looks', inputSchema: { type: 'object' } }],
      script(request) {
        const results = JSON.stringify(request.body.messages).split('"tool_result"').length - 1;
        if (results === 0) {
          return [
            { type: 'tool_use', name: 'shell', input: { command: 'echo fresh > report.txt' } },
          ];
        }
        if (results === 1) return [{ type: 'tool_use', name: 'look', input: {} }];
        if (results === 2) {
          return [{ type: 'tool_use', name: 'shell', input: { command: 'cat reply.txt' } }];
        }
        return [{ type: 'text', text: JSON.stringify(request.body.messages.at(-1)) }];
      },
    });
    await using _ = project;
    const seen: string[] = [];
    const answer = await project.answer('go', {
      async onTool() {
        const folder = join(project.dir, 'groups/family');
        seen.push(await readFile(join(folder, 'report.txt'), 'utf8'));
        await writeFile(join(folder, 'reply.txt'), 'from the host\n');
        return { ok: true, value: 'done' };
      },
    });
    expect(seen).toEqual(['fresh\n']);
    expect(answer).toContain('from the host');
  });

  test('files cost a turn no round trip: the one question is asked ahead, and answered with the last words', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas);
    await using _ = project;
    const folder = join(project.dir, 'groups/family');
    await project.answer('hello');
    nas.asked.splice(0);
    await project.answer('shell: echo there > one.txt');
    expect(nas.asked).toEqual(['look']);
    expect(await readFile(join(folder, 'one.txt'), 'utf8')).toBe('there\n');
    // What the home wrote meanwhile goes before the turn.
    await writeFile(join(folder, 'two.txt'), 'here\n');
    nas.asked.splice(0);
    expect(await project.answer('shell: cat two.txt; rm one.txt')).toBe('here\n[exit code 0]');
    expect(nas.asked).toEqual(['bytes', 'change', 'look']);
    expect(existsSync(join(folder, 'one.txt'))).toBe(false);
  });

  test('what cannot be sent is not taken for deleted, stays there, and the owner is told where', async () => {
    await using nas = await farMachine();
    const { project, told } = await projectWith(nas);
    await using _ = project;
    const home = (name: string) => join(project.dir, 'groups/family', name);
    await writeFile(home('log'), 'small\n');
    await project.answer('shell: truncate -s 65M log; mkfifo pipe; echo there > note');
    expect(await readFile(home('log'), 'utf8')).toBe('small\n');
    expect(await readFile(home('note'), 'utf8')).toBe('there\n');
    await project.sandbox.stop('family');
    expect(await readFile(home('log'), 'utf8')).toBe('small\n');
    expect(told).toEqual([expect.stringContaining('`/workspace/group/log`')]);
    const [, place = ''] = /stay there, in `([^`]+)`/.exec(told[0] ?? '') ?? [];
    const left = await readdir(place, { recursive: true });
    expect(left.filter((path) => /\/(log|pipe)$/.test(path))).toHaveLength(2);
    expect(await project.answer('shell: cat log note')).toBe('small\nthere\n[exit code 0]');
  });

  test('the other machine has lost a folder of the chat: nothing at home is taken for deleted', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas);
    await using _ = project;
    const notes = join(project.dir, 'groups/family/notes.md');
    await writeFile(notes, 'tea\n');
    await project.answer('hello');
    await rm(join(nas.dir, 'chats/family/0'), { recursive: true });
    expect(await project.answer('hello')).toBe('You said: hello');
    expect(await readFile(notes, 'utf8')).toBe('tea\n');
    expect(nas.progress.at(-1)).toContain('differ for now');
    await project.sandbox.stop('family');
    expect(await readFile(notes, 'utf8')).toBe('tea\n');
  });

  test('an outdated worker is told to end, and what it sends is dropped', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas);
    await using _ = project;
    await project.answer('hello');
    await project.sandbox.stop('family');
    await project.answer('hello');
    // Under the old number nobody listens; under the new one the old number inside is dropped.
    nas.forge('family', 1, endMessage(1, 'over'));
    nas.forge('family', 2, endMessage(1, 'over'));
    nas.forge('other', 2, endMessage(2, 'over'));
    expect(await project.answer('still here')).toBe('You said: still here');
    // A home that is outdated itself starts nothing there, and ends nothing.
    nas.worker.accept('family', 1, firstRecord(1));
    expect(nas.worker.running()).toBe(1);
    expect(await project.answer('and still here')).toBe('You said: and still here');
    expect(nas.places.fences).toEqual([1, 2]);
  });

  test('a machine gives no files to chats that never ran there', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas);
    await using _ = project;
    await project.answer('hello');
    await mkdir(join(nas.dir, 'chats/other/0'), { recursive: true });
    await writeFile(join(nas.dir, 'chats/other/0/secret.txt'), 'forged');
    await writeFile(
      join(nas.dir, 'chats/other/mounts.json'),
      JSON.stringify([{ target: '/workspace/group', isWritable: true }]),
    );
    await nas.filesLeft();
    await sleep(500);
    expect(await readFile(join(project.dir, 'groups/other/secret.txt'), 'utf8')).toBe(
      'the secret of the other group\n',
    );
  });

  test('a chat whose place is taken back moves home with the next turn, and its files with it', async () => {
    await using nas = await farMachine();
    const { project } = await projectWith(nas);
    await using _ = project;
    await project.answer('shell: echo far > place');
    nas.places.set('family', { machine: null, needs: [] });
    await appendFile(join(project.dir, 'groups/family/place'), 'home\n');
    expect(await project.answer('shell: cat place; rm place')).toBe('far\nhome\n[exit code 0]');
    expect(nas.worker.running()).toBe(0);
    expect(existsSync(join(project.dir, 'groups/family/place'))).toBe(false);
    await rm(join(nas.dir, 'contents'), { recursive: true });
  });
});

function bubblewrap() {
  const user = agentUser({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  const isRoot = process.getuid?.() === 0;
  return openBubblewrap({ user, isRoot, nodePath: process.execPath });
}

async function projectWith(nas: FarMachine, parts: Partial<SandboxProjectParts> = {}) {
  const told: string[] = [];
  const project = await sandboxProject({
    engine: 'bubblewrap',
    ...parts,
    options: {
      machines: [nas.contribution],
      places: nas.places,
      onFileConflict: (_, text) => void told.push(text),
      onProgress: (line) => void nas.progress.push(line),
    },
  });
  return { project, told };
}
