import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { Session } from '../../container/agent/conversation/session.ts';
import { type AgentScript, answers, TestProject } from '../testing/assistant.ts';
import { isIdle, startWithFamily } from '../testing/turn/tasks.ts';
import type { VerbCall } from '../verb.ts';
import { verb } from './sessions.ts';

const STEERING = '\u001b]0;owned\u0007\u009b31m';

/** An agent that keeps its conversations as the real one does, and tells which it went on with. */
function keeper(project: TestProject) {
  const resumed: (string | null)[] = [];
  const agent: AgentScript = async ({ session, prompt, folder }) => {
    const dir = join(project.dir, 'data/sessions', folder, '.claude/sessions');
    const conversation = await Session.open(dir, session);
    resumed.push(session);
    await conversation.append(
      [
        { role: 'user', content: prompt },
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: '1', toolName: 'read_file', input: { path: 'a' } },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: '1',
              toolName: 'read_file',
              output: { type: 'text', value: 'the file says cheese' },
            },
          ],
        },
        { role: 'assistant', content: `pong${STEERING}` },
      ],
      null,
    );
    return { ...answers('pong'), session: conversation.id } as ReturnType<typeof answers>;
  };
  return { resumed, agent };
}

type Call = {
  readonly options?: object;
  readonly consent?: 'yes' | 'no' | 'nobody-to-ask';
  readonly isRunning?: boolean;
};

/** A project whose main chat has had two conversations, and what calls the verb there. */
async function bench() {
  const project = new TestProject();
  const { resumed, agent } = keeper(project);
  const assistant = await startWithFamily(project, agent);
  const say = async (text: string) => {
    await assistant.terminal.say(text);
    await isIdle(assistant);
  };
  await say('what does the file say?');
  await say('/reset');
  await say(`buy milk${STEERING}`);
  const asked: string[] = [];
  const dataDir = join(project.dir, 'data');
  return {
    ...{ project, assistant, resumed, say, asked, dataDir },
    files: () => readdirSync(join(dataDir, 'sessions/main/.claude/sessions')).sort(),
    async claw(words: readonly string[], over: Call = {}) {
      const context = { projectDir: project.dir, dataDir, now: assistant.clock.now };
      const opened = verb.open({ SESSION_EXPIRY_HOURS: '0' }, context);
      if (opened.kind !== 'made' || opened.value === null) throw new Error('not made');
      const call = {
        ...{ words, options: over.options ?? {}, isJson: false, columns: null },
        isAssistantRunning: async () => over.isRunning ?? true,
        consent: async (question: string) => {
          asked.push(question);
          return over.consent ?? 'yes';
        },
      } as unknown as VerbCall;
      const { data, lines = [] } = await opened.value(call);
      return { data: data as { sessions: readonly { id: string }[] }, text: lines.join('\n') };
    },
    async [Symbol.asyncDispose]() {
      await assistant.stop();
      project[Symbol.dispose]();
    },
  };
}

test('claw sessions lists the conversations, and shows one by the beginning of its id', async () => {
  await using one = await bench();
  const { data, text } = await one.claw([]);
  expect(data.sessions).toMatchObject([
    { folder: 'main', chat: 'Terminal', goesOn: true, questions: 1 },
    { chat: 'Terminal', goesOn: false, firstQuestion: 'what does the file say?' },
  ]);
  expect(text).toMatch(
    /^session +chat +began +last +questions\n[0-9a-f]{8} +Terminal .* 1 +goes on +buy milk/,
  );
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  const first = data.sessions[1]?.id ?? '';
  const shown = await one.claw(['show', first.slice(0, 8)]);
  expect(shown.text).toMatch(
    /^Session [0-9a-f-]{36} in Terminal\n.*: 1 question\. It has ended\.\n\nQuestion: what does the file say\?\n\nAndy:\n {2}calls read_file\n\n {2}read_file: the file says cheese\n\nAndy: pong/,
  );
  expect(shown.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect((await one.claw([], { options: { chat: 'family' } })).text).toBe(
    'There is no conversation yet.',
  );
  expect((await one.claw(['list'], { options: { last: '1' } })).text).toContain(
    '(and 1 older: --last 2)',
  );
});

test('a key of .env that was said in a conversation is not shown', async () => {
  await using one = await bench();
  writeFileSync(join(one.project.dir, '.env'), 'OPENAI_API_KEY="the file says"\n');
  const { data } = await one.claw([]);
  const { text, data: shown } = await one.claw(['show', data.sessions[1]?.id ?? '']);
  expect(text).toContain('read_file: [OPENAI_API_KEY] cheese');
  expect(JSON.stringify(shown)).not.toContain('the file says');
});

test('resume lets the next message go on with an earlier conversation, which counts as words from outside', async () => {
  await using one = await bench();
  const { sessions } = (await one.claw([])).data;
  const [second, first] = sessions.map(({ id }) => id);
  const { text } = await one.claw(['resume', first ?? '']);
  expect(text).toMatch(/^The next message in Terminal goes on with session .*: 1 question/);
  const mark = { kind: 'conversation', name: 'main' } as const;
  expect(one.assistant.store.outsideMarks.sourceOf(mark)).toBe('an earlier conversation');
  await one.say('and now?');
  expect(one.resumed).toEqual([null, null, first]);
  expect((await one.claw(['resume', first ?? ''])).text).toContain('already. Nothing was changed.');
  await one.claw(['resume', second ?? '']);
  await one.say('and now?');
  expect(one.resumed.at(-1)).toBe(second);
});

test('delete says what is removed, asks, and removes nothing else', async () => {
  await using one = await bench();
  const { sessions } = (await one.claw([])).data;
  const [second = '', first = ''] = sessions.map(({ id }) => id);
  for (const consent of ['no', 'nobody-to-ask'] as const) {
    await expect(one.claw(['delete', first], { consent })).rejects.toThrow(/nothing was deleted/i);
  }
  expect(one.asked[0]).toMatch(
    /^This deletes session .* of Terminal: 1 question with their answers .* It cannot be taken back\. What was said/,
  );
  expect(one.files()).toHaveLength(2);
  const { text } = await one.claw(['delete', first]);
  expect(text).toMatch(/^Deleted session .* of Terminal: 1 question/);
  expect(one.files()).toEqual([`${second}.jsonl`]);
  // The one that goes on: the next message begins another.
  expect((await one.claw(['delete', second])).text).toContain('begins a new conversation');
  expect(one.files()).toEqual([]);
  await one.say('and now?');
  expect(one.resumed).toEqual([null, null, null]);
  // The chat's own history has all of it.
  const found = one.assistant.store.search.find({
    jids: ['terminal:main'],
    text: 'file',
    from: 0,
    until: Number.MAX_SAFE_INTEGER,
    limit: 10,
  });
  expect(found.map(({ text }) => text)).toEqual(['what does the file say?']);
});

test('nothing is changed while the agent works in that chat; a claim left by another process does not count', async () => {
  const project = new TestProject();
  const { promise, resolve: go } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { agent } = keeper(project);
  const assistant = await startWithFamily(project, async (request, events) => {
    if (request.prompt.includes('slowly')) {
      begun.resolve();
      await promise;
    }
    return await agent(request, events);
  });
  await assistant.terminal.say('quick');
  await isIdle(assistant);
  await assistant.terminal.say('slowly');
  await begun.promise;
  const dataDir = join(project.dir, 'data');
  const opened = verb.open({}, { projectDir: project.dir, dataDir, now: assistant.clock.now });
  if (opened.kind !== 'made' || opened.value === null) throw new Error('not made');
  const files = () => readdirSync(join(dataDir, 'sessions/main/.claude/sessions'));
  const [id = ''] = files().map((file) => file.replace('.jsonl', ''));
  const call = (isRunning: boolean) =>
    ({
      ...{ words: ['delete', id], options: {} },
      isAssistantRunning: async () => isRunning,
      consent: async () => 'yes',
    }) as unknown as VerbCall;
  await expect(opened.value(call(true))).rejects.toThrow('The agent is at work in Terminal.');
  expect(files()).toHaveLength(1);
  go();
  await isIdle(assistant);
  await opened.value(call(false));
  expect(files()).toEqual([]);
  await assistant.stop();
  project[Symbol.dispose]();
});

test('links that an agent left are not followed', async () => {
  await using one = await bench();
  const folder = join(one.dataDir, 'sessions/main/.claude/sessions');
  const id = '00000000-0000-4000-8000-000000000000';
  symlinkSync('/etc/passwd', join(folder, `${id}.jsonl`));
  expect((await one.claw([])).data.sessions).toHaveLength(2);
  await expect(one.claw(['show', id])).rejects.toThrow(`There is no session ${id}`);
  expect(existsSync('/etc/passwd')).toBe(true);
});

test('if claw sessions does not know a session, it says so and what to do', async () => {
  await using one = await bench();
  await expect(one.claw(['show', 'zzz'])).rejects.toThrow(
    'There is no session zzz: `npx claw sessions` lists them.',
  );
  await expect(one.claw(['show'])).rejects.toThrow('sessions delete');
  await expect(one.claw(['burn', '1'])).rejects.toThrow('sessions delete');
  await expect(one.claw([], { options: { last: 'all' } })).rejects.toThrow('--last 50');
});

test('the command asks for --yes where nobody can be asked, with exit code 2, and then deletes', async () => {
  const one = await bench();
  await one.assistant.stop();
  const id = one.files()[0]?.replace('.jsonl', '') ?? '';
  const claw = (...args: readonly string[]) => {
    const path = resolve(import.meta.dirname, '../../bin/claw.js');
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [path, '--cwd', one.project.dir, ...args],
      { encoding: 'utf8', env: { ...process.env, CLAW_DATA_DIR: undefined } },
    );
    return { status, stdout, stderr };
  };
  const refused = claw('sessions', 'delete', id);
  expect(refused).toMatchObject({ status: 2, stdout: '' });
  expect(refused.stderr).toMatch(/This would delete session .* say it with --yes\./);
  expect(one.files()).toHaveLength(2);
  const done = claw('sessions', 'delete', id, '--yes', '--json');
  expect(done.status).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({ data: { session: { id }, isDeleted: true } });
  expect(one.files()).toHaveLength(1);
  expect(readFileSync(join(one.dataDir, 'claw.db')).length).toBeGreaterThan(0);
  one.project[Symbol.dispose]();
});
