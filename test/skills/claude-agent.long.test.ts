import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  type FollowUp,
  type HostToolCall,
  mediaFolder,
  type OwnToolVerdict,
} from '../../src/sandbox/sandbox.ts';
import { describeWithEngine, type TestEngine } from '../../src/testing/engine.ts';
import {
  type AnthropicBlock,
  type AnthropicReply,
  lastToolResults,
} from '../../src/testing/model/anthropic.ts';
import { startOpenAiServer } from '../../src/testing/model/openai.ts';
import { testModel } from '../../src/testing/model/test-model.ts';
import { pngOf } from '../../src/testing/pictures.ts';
import {
  type SandboxProject,
  sandboxProject,
  TEST_KEY,
} from '../../src/testing/sandbox-project.ts';

// The SDK itself, which npm fetches: this needs a registry, and is not part of a proof.
const SKILL = join(import.meta.dirname, '../../skills/claude-agent');
const MINUTES = 10 * 60_000;
const NOTE = {
  name: 'note',
  description: 'Takes a note.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

const Manifest = z.object({
  structured: z.object({
    container: z.object({ npm_dependencies: z.record(z.string(), z.string()) }),
  }),
});

/** Returns a folder with the version of the SDK that the skill names, installed once. */
function installedSdk(): string {
  const { structured } = Manifest.parse(parse(readFileSync(join(SKILL, 'manifest.yaml'), 'utf8')));
  const packages = Object.entries(structured.container.npm_dependencies).map((one) =>
    one.join('@'),
  );
  const folder = join(tmpdir(), `claw-${packages.join('-').replace(/[^a-z0-9.]+/g, '-')}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', unfinished, ...packages], {
    stdio: 'ignore',
  });
  renameSync(unfinished, folder);
  return folder;
}

/** Returns the files of the skill, as they are in a tree that has it. */
function filesOfSkill(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const part of ['add', 'modify']) {
    const folder = join(SKILL, part, 'container');
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      files[path.slice(join(SKILL, part).length + 1)] = readFileSync(path, 'utf8');
    }
  }
  return files;
}

const text = (said: string): AnthropicBlock => ({ type: 'text', text: said });
const call = (name: string, input: unknown): AnthropicBlock => ({ type: 'tool_use', name, input });

/** Gives a project's agents the SDK, before the first of them starts. */
function share(project: SandboxProject): void {
  const shared = join(project.dir, 'container/shared/claude-agent');
  mkdirSync(shared, { recursive: true });
  execFileSync('cp', ['-al', join(installedSdk(), 'node_modules'), shared]);
}

function agentOn(engine: TestEngine): void {
  let project: SandboxProject;
  /** The model's answers, one a request; each test sets its own. */
  let replies: AnthropicReply[] = [];

  beforeAll(async () => {
    project = await sandboxProject({
      engine,
      tools: [NOTE],
      files: filesOfSkill(),
      script: () => replies.shift() ?? [text('nothing more')],
    });
    share(project);
  }, MINUTES);
  afterAll(() => project?.[Symbol.asyncDispose]());

  const lastRequest = () => {
    const request = project.server.requests.at(-1);
    if (request === undefined) throw new Error('no request');
    return request;
  };
  const onTool = async ({ input }: { input: unknown }) => ({
    ok: true,
    value: `noted ${(input as { text: string }).text}`,
  });

  test('answers as it writes, and goes on with the conversation in the next turn', async () => {
    replies = [[text('Hello Ada, I am Andy.')]];
    let streamed = '';
    const onText = (delta: string) => {
      streamed += delta;
    };
    const first = await project.turn('I am Ada.', { onText });
    expect(first).toMatchObject({ kind: 'answered', text: 'Hello Ada, I am Andy.' });
    expect(streamed).toBe('Hello Ada, I am Andy.');
    expect(JSON.stringify(lastRequest().body.system)).toContain('Claude Agent SDK');
    expect(JSON.stringify(lastRequest().body.system)).toContain('You are Andy.');
    expect(lastRequest().headers['x-api-key']).toBe(TEST_KEY);
    if (first.kind !== 'answered') throw new Error(first.message);

    replies = [[text('You are Ada.')]];
    const second = await project.turn('Who am I?', { session: first.session });
    expect(second).toMatchObject({ text: 'You are Ada.', session: first.session });
    const [asked, said, again] = lastRequest().body.messages;
    expect(JSON.stringify(asked)).toContain('I am Ada.');
    expect(JSON.stringify(said)).toContain('Hello Ada, I am Andy.');
    expect(JSON.stringify(again)).toContain('Who am I?');
    expect(project.charges.length).toBeGreaterThan(1);
  });

  test('calls a tool of the host and its own shell, and both are known to the host', async () => {
    replies = [
      [text('I look.'), call('note', { text: 'milk' })],
      [call('Bash', { command: 'cat CLAUDE.md; cat /proc/self/environ | tr "\\\\0" "\\n"' })],
      [text('All is there.')],
    ];
    const runs: string[] = [];
    const onOwnToolRun = (run: { kind: string; name?: string; doing?: string | undefined }) =>
      void runs.push(`${run.kind} ${run.name ?? ''} ${run.doing ?? ''}`.trim());
    const outcome = await project.turn('look', { onTool, onOwnToolRun });
    expect(outcome).toMatchObject({ kind: 'answered', text: 'I look.\n\nAll is there.' });
    const results = project.server.requests.slice(-2).flatMap(lastToolResults).join('\n');
    expect(results).toContain('noted milk');
    expect(results).toContain('The family likes short answers.');
    expect(results).not.toContain(TEST_KEY);
    expect(runs).toEqual(['began shell running a command', 'ended']);
  });

  test('shows guards each command before it runs, and its result', async () => {
    replies = [
      [
        call('Bash', { command: 'touch refused' }),
        call('Bash', { command: 'echo secret; touch allowed; exit 3' }),
        call('Write', { file_path: '/workspace/group/written.txt', content: 'a line' }),
        call('Read', { file_path: '/workspace/group/CLAUDE.md' }),
      ],
      [text('done')],
    ];
    const checked: unknown[] = [];
    const onOwnTool = async ({ name, input }: HostToolCall): Promise<OwnToolVerdict> => {
      checked.push([name, input]);
      if (JSON.stringify(input).includes('refused')) {
        return { kind: 'refused', reason: 'Never touch that.' };
      }
      const after = async ({ value }: { value?: unknown }) => ({
        ok: true,
        value: String(value).replaceAll(/secret|short/g, '[masked]'),
      });
      return { kind: 'allowed', after };
    };
    await project.answer('go', { guardedOwnTools: 'all', onOwnTool });
    expect(checked).toContainEqual(['shell', { command: 'touch refused' }]);
    expect(checked).toContainEqual([
      'write_file',
      { path: '/workspace/group/written.txt', content: 'a line' },
    ]);
    const results = JSON.stringify(lastRequest().body.messages.at(-1));
    expect(results).toContain('Never touch that.');
    expect(results).toContain('[masked]\\n[exit code 3]');
    expect(results).not.toContain('secret');
    expect(results).toContain('The family likes [masked] answers.');
    const files = readdirSync(join(project.dir, 'groups/family'));
    expect(files).toContain('allowed');
    expect(files).toContain('written.txt');
    expect(files).not.toContain('refused');
  });

  test('waits for approvals of a command and of a tool of the host, which the owner gives or not', async () => {
    replies = [
      [call('Bash', { command: 'touch approved' })],
      [call('note', { text: 'x' })],
      [text('as you say')],
    ];
    const asked: string[] = [];
    const mayRun = Promise.withResolvers<OwnToolVerdict>();
    const mayNote = Promise.withResolvers<{ ok: boolean; value: unknown }>();
    const isThere = () => existsSync(join(project.dir, 'groups/family/approved'));
    const answering = project.answer('ask me', {
      guardedOwnTools: ['shell'],
      onOwnTool: ({ name }) => {
        asked.push(name);
        return mayRun.promise;
      },
      onTool: ({ name }) => {
        asked.push(name);
        return mayNote.promise;
      },
    });
    await expect.poll(() => asked).toEqual(['shell']);
    expect(isThere()).toBe(false);
    mayRun.resolve({ kind: 'allowed', after: null });
    await expect.poll(() => asked).toEqual(['shell', 'note']);
    expect(isThere()).toBe(true);
    mayNote.resolve({ ok: false, value: 'The owner says no.' });
    expect(await answering).toBe('as you say');
    expect(JSON.stringify(lastRequest().body.messages.at(-1))).toContain('The owner says no.');
  });

  test('has no tool that is switched off, and none of the SDK beside those that are known', async () => {
    replies = [[text('well')]];
    await project.answer('go', { ownToolsOff: ['shell', 'list_files', 'remember'] });
    const names = (lastRequest().body.tools ?? []).map(({ name }) => name).sort();
    expect(names).toEqual(['Edit', 'Grep', 'Read', 'Write', 'note', 'read_file']);
  });

  test('takes in what is said meanwhile, and shows pictures', async () => {
    const media = mediaFolder(project.dataDir, 'family');
    mkdirSync(media, { recursive: true });
    writeFileSync(join(media, 'cat.png'), pngOf({ width: 20, height: 10 }));
    replies = [[call('note', { text: 'cat' })], [text('and the dog')]];
    const took: string[] = [];
    let send: (followUp: FollowUp) => boolean = () => false;
    const outcome = await project.turn('feed the cat', {
      pictures: [{ message: 'm1', path: '/workspace/media/cat.png', problem: null }],
      onReady: (given) => {
        send = given;
      },
      onAccepted: (id) => void took.push(id),
      onTool: async () => {
        send({ id: 'more', text: 'the dog too, please' });
        return { ok: true, value: 'fed' };
      },
    });
    expect(outcome).toMatchObject({ kind: 'answered', text: 'and the dog' });
    expect(took).toEqual(['more']);
    const body = JSON.stringify(lastRequest().body.messages);
    expect(body).toContain('the dog too, please');
    expect(body).toContain('"media_type":"image/');
    if (outcome.kind !== 'answered') throw new Error(outcome.message);
    replies = [[text('yes')]];
    await project.turn('both?', { session: outcome.session });
    const kept = lastRequest().body.messages.map(({ role, content }) => [role, content]);
    expect(kept.map(([role]) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    expect(JSON.stringify(kept[2])).toContain('the dog too, please');
  });

  test('ends a turn with one line where the key is refused, the answer is garbage, or it breaks off', async () => {
    const failed = async (...given: AnthropicReply[]) => {
      replies = given;
      const outcome = await project.turn('hello?');
      if (outcome.kind !== 'failed') throw new Error('it was answered');
      return outcome.message;
    };
    expect(await failed({ kind: 'error', status: 401, message: 'invalid x-api-key' })).toContain(
      'refused the API key (401)',
    );
    expect(await failed({ kind: 'garbage' })).toContain("is not a model's server");
    expect(await failed({ kind: 'drop', blocks: [text('a long answer, which breaks')] })).toContain(
      'broke off',
    );
    expect(await failed(Array<AnthropicBlock>(200).fill(call('note', { text: 'a' })))).toContain(
      'more than 128 tools at once',
    );
    const busy = { kind: 'error', status: 529 } as const;
    expect(await failed(busy, busy, busy)).toContain('overloaded (529)');
    replies = [busy, [text('back again')]];
    expect(await project.answer('and now?')).toBe('back again');
  });

  test('says so where the rounds of tool calls are over, and goes on in the next turn', async () => {
    replies = Array<AnthropicReply>(20).fill([call('Bash', { command: 'true' })]);
    const outcome = await project.turn('count to a hundred');
    if (outcome.kind !== 'answered') throw new Error(outcome.message);
    expect(outcome.text).toBe('I stopped after 20 rounds of tool calls. Say "go on" to continue.');
    replies = [[text('a hundred')]];
    expect(await project.answer('go on', { session: outcome.session })).toBe('a hundred');
    expect(JSON.stringify(lastRequest().body.messages)).toContain('count to a hundred');
  });

  test('stops in the middle of a command, and answers the next turn', async () => {
    replies = [[call('Bash', { command: 'touch started; sleep 1000' })]];
    const began = Promise.withResolvers<void>();
    const turn = project.turn('sleep', { onOwnToolRun: () => began.resolve() });
    await began.promise;
    await project.sandbox.stop('family');
    expect(await turn).toMatchObject({ kind: 'failed' });
    replies = [[text('awake')]];
    expect(await project.answer('hello')).toBe('awake');
  });
}

await describeWithEngine('docker', 'the Agent SDK in Docker', () => agentOn('docker'));
await describeWithEngine('bubblewrap', 'the Agent SDK in bubblewrap', () => agentOn('bubblewrap'));

await describeWithEngine('bubblewrap', 'a command under the Agent SDK', () => {
  test(
    'ends at the limit that the owner has set, also where the model asks for more time',
    async () => {
      await using project = await sandboxProject({
        engine: 'bubblewrap',
        settings: { shellTimeoutMs: 2_000 },
        files: filesOfSkill(),
        script: (request) => {
          const results = lastToolResults(request);
          return results.length === 0
            ? [call('Bash', { command: 'sleep 1000', timeout: 500_000 })]
            : [text(results.join())];
        },
      });
      share(project);
      expect(await project.answer('sleep')).toMatch(/timed out after 2s/);
    },
    MINUTES,
  );
});

await describeWithEngine('bubblewrap', 'where the Agent SDK cannot answer', () => {
  test('the loop of the core does: without the SDK, and for a model of another protocol', async () => {
    await using bare = await sandboxProject({ engine: 'bubblewrap', files: filesOfSkill() });
    expect(await bare.answer('shell: echo by the core')).toContain('by the core');
    expect(bare.server.requests[0]?.body.tools?.map(({ name }) => name)).toContain('shell');

    const other = await startOpenAiServer(() => 'in another protocol');
    const model = testModel({ provider: 'openai', baseUrl: `${other.url}/v1` });
    const parts = { engine: 'bubblewrap', model, files: filesOfSkill() } as const;
    await using project = await sandboxProject(parts);
    expect(await project.answer('hello')).toBe('in another protocol');
    await other.close();
  });
});

await describeWithEngine(
  'bubblewrap',
  'a conversation that is longer than the model can read',
  () => {
    test('goes on with a summary of its beginning, which the transcript keeps', async () => {
      let question = 0;
      await using project = await sandboxProject({
        engine: 'bubblewrap',
        files: filesOfSkill(),
        settings: { modelContext: 100_000 },
        script: ({ body }) => {
          if (JSON.stringify(body.system).includes('You keep the memory')) {
            return [text('Ada likes tea.')];
          }
          question += 1;
          return { kind: 'counted', blocks: [text(`answer ${question}`)], inputTokens: 90_000 };
        },
      });
      share(project);
      let session: string | null = null;
      for (const prompt of ['first of all, tea', 'second', 'third', 'fourth', 'fifth']) {
        const outcome = await project.turn(prompt, { session });
        if (outcome.kind !== 'answered') throw new Error(outcome.message);
        session = outcome.session;
      }
      const asked = JSON.stringify(project.server.requests.at(-1)?.body.messages);
      expect(asked).toContain('Ada likes tea.');
      expect(asked).not.toContain('first of all');
      expect(asked).toContain('answer 4');
      expect(asked).toContain('fifth');
    });
  },
);
