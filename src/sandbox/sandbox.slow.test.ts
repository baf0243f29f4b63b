import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../testing/engine.ts';
import { type SandboxProject, sandboxProject, TEST_KEY } from '../testing/sandbox-project.ts';

const HOST_TOOL = {
  name: 'send_message',
  description: 'Sends a message to this chat.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
  },
};

for (const engine of ['docker', 'bubblewrap'] as const) {
  await describeWithEngine(engine, `an agent under ${engine}`, () => {
    let project: SandboxProject;
    beforeAll(async () => {
      project = await sandboxProject({ engine, tools: [HOST_TOOL] });
    });
    afterAll(() => project[Symbol.asyncDispose]());

    test('answers, streams its text, and the host counts what it cost', async () => {
      const deltas: string[] = [];
      const outcome = await project.turn('hello', { onText: (delta) => deltas.push(delta) });
      expect(outcome).toEqual({
        kind: 'answered',
        text: 'You said: hello',
        session: expect.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
        isTruncated: false,
      });
      expect(deltas.length).toBeGreaterThan(1);
      expect(deltas.join('')).toBe('You said: hello');
      expect(project.charges.at(-1)).toMatchObject({
        folder: 'family',
        counts: { inputTokens: 100, outputTokens: 20 },
      });
    });

    test('knows who it is, and the memory of all groups and of its own', async () => {
      await project.answer('hello');
      const system = JSON.stringify(project.server.requests.at(-1)?.body.system);
      expect(system).toContain('You are Andy.');
      expect(system).toContain('Everybody speaks English.');
      expect(system).toContain('The family likes short answers.');
      expect(system).not.toContain('Ada');
    });

    test('writes into its group folder, as a user that is not root', async () => {
      await project.answer('shell: echo milk > list.txt');
      const path = join(project.dir, 'groups/family/list.txt');
      expect(await readFile(path, 'utf8')).toBe('milk\n');
      expect((await lstat(path)).uid).toBe(process.getuid?.() === 0 ? 1000 : process.getuid?.());
    });

    test('resumes a conversation by its session, and begins another without', async () => {
      const first = await project.turn('my name is Ada');
      if (first.kind !== 'answered') throw new Error(first.message);
      const second = await project.turn('who am I?', { session: first.session });
      expect(second).toMatchObject({ kind: 'answered', session: first.session });
      expect(project.server.requests.at(-1)?.body.messages).toMatchObject([
        { role: 'user', content: 'my name is Ada' },
        { role: 'assistant', content: [{ text: 'You said: my name is Ada' }] },
        { role: 'user', content: 'who am I?' },
      ]);
      const third = await project.turn('who am I?');
      expect(third.kind === 'answered' && third.session).not.toBe(first.session);
      expect(project.server.requests.at(-1)?.body.messages).toHaveLength(1);
    });

    test('goes on with a conversation in which the model once said nothing', async () => {
      await using silent = await sandboxProject({
        engine,
        script: ({ body }) => [{ type: 'text', text: body.messages.length === 1 ? '' : 'here' }],
      });
      const first = await silent.turn('hello?');
      if (first.kind !== 'answered') throw new Error(first.message);
      expect(first.text).toBe('');
      expect(await silent.turn('hello?', { session: first.session })).toMatchObject({
        kind: 'answered',
        text: 'here',
      });
    });

    test('stays warm: the next turn meets the same process', async () => {
      const agentPid = 'shell: cut -d" " -f22 /proc/$PPID/stat';
      expect(await project.answer(agentPid)).toBe(await project.answer(agentPid));
    });

    test('runs the turns of one group one after the other', async () => {
      const slow = project.answer('shell: sleep 0.5; date +%s%N');
      const quick = project.answer('shell: date +%s%N');
      expect(Number.parseInt(await slow, 10)).toBeLessThan(Number.parseInt(await quick, 10));
    });

    test('has no network, no way to write to the system, and no privileges', async () => {
      const text = await project.answer(
        'shell: ls /sys/class/net; touch /x; touch /opt/claw/x; touch /run/claw/x; id -u; ' +
          'grep -E "CapEff|NoNewPrivs" /proc/self/status; touch /workspace/global/x',
      );
      expect(text).not.toMatch(/eth0|veth|wlan/);
      expect(text.match(/Read-only file system/g)).toHaveLength(4);
      expect(text).toContain('1000');
      expect(text).toMatch(/CapEff:\s+0+\n/);
      expect(text).toMatch(/NoNewPrivs:\s+1/);
    });

    test('sees neither other groups nor settings, data or source', async () => {
      const text = await project.answer(
        'shell: ls -A /workspace /workspace/project; cat /workspace/other/secret.txt; ' +
          `find / -xdev -name "secret.txt" -o -xdev -name ".env" -o -xdev -name claw.db 2>/dev/null; ` +
          `ls -d ${project.dir}`,
      );
      expect(text).toContain('/workspace:\nglobal\ngroup\nmedia\nproject\n\n/workspace/project:\n');
      expect(text).not.toContain('/workspace/project:\nsrc');
      expect(text).not.toMatch(/^\/.*(secret\.txt|\.env|claw\.db)$/m);
      expect(text.match(/No such file/g)).toHaveLength(2);
    });

    test('never holds the key, which the host adds on the way', async () => {
      const text = await project.answer(
        // In two parts, so that the command does not find itself.
        `shell: k=${TEST_KEY.slice(0, 10)}; k=\${k}${TEST_KEY.slice(10)}; env | grep -c $k; ` +
          'cat /proc/[0-9]*/environ 2>/dev/null | grep -c -a $k; ' +
          'grep -r -l $k /opt /run /home /workspace /tmp /etc 2>/dev/null; echo searched',
      );
      expect(text).toMatch(/^0\n0\nsearched/);
      expect(project.server.requests.at(-1)?.headers['x-api-key']).toBe(TEST_KEY);
      expect(project.server.requests.at(-1)?.headers.authorization).toBeUndefined();
    });

    test('main reads the source, writes neither it nor the shared memory, and sees no settings', async () => {
      const text = await project.answer(
        'shell: ls -A /workspace/project; cat /workspace/project/.env; ls /workspace/project/data; ' +
          'touch /workspace/project/src/x; echo news > /workspace/global/news.md',
        { folder: 'main', isMain: true },
      );
      expect(text).toContain('container\npackage.json\nsrc\n');
      expect(text).not.toContain(TEST_KEY);
      expect(text.match(/No such file/g)).toHaveLength(2);
      expect(text.match(/Read-only file system/g)).toHaveLength(2);
    });
  });

  await describeWithEngine(engine, `tools of the host under ${engine}`, () => {
    test('are called with the group that the socket belongs to, and their result is used', async () => {
      await using project = await sandboxProject({
        engine,
        tools: [HOST_TOOL],
        script: ({ body }) =>
          body.messages.length === 1
            ? [{ type: 'tool_use', name: 'send_message', input: { text: 'hi', folder: 'main' } }]
            : [{ type: 'text', text: JSON.stringify(body.messages.at(-1)?.content) }],
      });
      const calls: unknown[] = [];
      const text = await project.answer('send hi', {
        onTool: async (call) => {
          calls.push(call);
          return { ok: true, value: { sent: 1 } };
        },
      });
      expect(calls).toEqual([
        { folder: 'family', name: 'send_message', input: { text: 'hi', folder: 'main' } },
      ]);
      expect(text).toContain('{\\"sent\\":1}');
    });

    test('that fail tell the model so, and the turn goes on', async () => {
      await using project = await sandboxProject({
        engine,
        tools: [HOST_TOOL],
        script: ({ body }) =>
          body.messages.length === 1
            ? [{ type: 'tool_use', name: 'send_message', input: { text: 'hi' } }]
            : [{ type: 'text', text: JSON.stringify(body.messages.at(-1)?.content) }],
      });
      const text = await project.answer('send hi', {
        onTool: () => Promise.reject(new Error('the chat is gone')),
      });
      expect(text).toContain('the chat is gone');
    });

    test('end with a notice after twenty rounds', async () => {
      await using project = await sandboxProject({
        engine,
        script: () => [{ type: 'tool_use', name: 'list_files', input: {} }],
      });
      const text = await project.answer('go round');
      expect(text).toContain('I stopped after 20 rounds of tool calls');
      expect(project.server.requests).toHaveLength(20);
    });
  });
}
