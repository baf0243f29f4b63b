import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readSettings } from '../../config.ts';
import { openSandbox } from '../../sandbox/open.ts';
import { startAssistant, type TestAssistant, textsOf } from '../../testing/assistant.ts';
import { TestClock } from '../../testing/clock.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import {
  type AnthropicRequest,
  type AnthropicScript,
  lastToolResults,
  lastUserText,
} from '../../testing/model/anthropic.ts';
import { type SandboxProject, sandboxProject, TEST_KEY } from '../../testing/sandbox-project.ts';
import { lazySandbox } from '../turns/agent/lazy-sandbox.ts';

const FAMILY = 'chat:family';
const DAY_MS = 86_400_000;

/** Calls the tool that a message names, as `remember {"text":"…"}`, and answers with what that gave. */
const script: AnthropicScript = (request) => {
  const results = lastToolResults(request);
  // The calls of a turn that was cut off come between the question and its answer.
  const isAsked = JSON.stringify(request.body.messages.slice(-3)).includes('who am I?');
  if (results.length > 0 && !isAsked) return [{ type: 'text', text: results.join('\n') }];
  const [, name, input] = /@Andy ([a-z_]+) (\{.*\})$/s.exec(lastUserText(request)) ?? [];
  if (name === undefined || input === undefined) return [{ type: 'text', text: 'I see.' }];
  return [{ type: 'tool_use', name, input: JSON.parse(input) }];
};

await describeWithEngine('docker', 'what survives what', () => {
  let project: SandboxProject;
  let assistant: TestAssistant;
  const clock = new TestClock('2026-11-21T12:00:00Z');
  let said = 0;

  beforeAll(async () => {
    project = await sandboxProject({ engine: 'docker', script });
    rmSync(join(project.dataDir, 'claw.db'));
    await start();
    await assistant.chat.meet(FAMILY, 'Family');
  });
  afterAll(async () => {
    await assistant.stop();
    await project[Symbol.asyncDispose]();
  });

  async function start(): Promise<void> {
    const environment = {
      ANTHROPIC_BASE_URL: project.server.url,
      ANTHROPIC_API_KEY: TEST_KEY,
      CLAW_SANDBOX: 'docker',
    };
    const sandbox = lazySandbox(() =>
      openSandbox({
        projectDir: project.dir,
        settings: readSettings(environment, project.dir),
        homeDir: homedir(),
        elapsed: () => performance.now(),
        now: Date.now,
        onProgress: () => {},
      }),
    );
    const over = { now: clock.now, setTimer: clock.setTimer, sandbox };
    assistant = await startAssistant(project.dir, { environment, over });
  }

  async function command(text: string): Promise<string> {
    const before = assistant.terminal.sent.length;
    await assistant.terminal.say(text);
    await vi.waitFor(() => expect(assistant.terminal.sent.length).toBeGreaterThan(before));
    return textsOf(assistant.terminal).at(-1) ?? '';
  }

  /** Says something in the group, and returns what it answered. */
  async function ask(text: string): Promise<string> {
    const before = assistant.chat.sent.length;
    said += 1;
    const sentAt = clock.now() + said;
    const over = { jid: FAMILY, chatName: 'Family', isDirect: false, sentAt };
    await assistant.chat.say(`@Andy ${text}`, over);
    await vi.waitFor(() => expect(assistant.chat.sent.length).toBeGreaterThan(before));
    return textsOf(assistant.chat).at(-1) ?? '';
  }

  const call = (name: string, input: object) => ask(`${name} ${JSON.stringify(input)}`);

  /** Registers the group and leaves something in each layer, all of it with the marker. */
  async function fill(marker: string): Promise<void> {
    if (assistant.store.groups.byJid(FAMILY) === null) await command('/register Family as kin');
    await call('remember', { text: `told ${marker}` });
    await call('write_file', { path: 'notes/plan.md', content: `plan ${marker}` });
    await call('remember', { text: `learnt ${marker}`, where: 'own' });
    await ask(`I am ${marker}`);
  }

  /** Tells for each layer of memory whether the next turn still has it. */
  async function layersWith(marker: string) {
    expect(await ask('who am I?')).toBe('I see.');
    const request = project.server.requests.at(-1);
    const system = JSON.stringify(request?.body.system);
    const plan = await call('read_file', { path: 'notes/plan.md' });
    return {
      'CLAUDE.md': system.includes(`told ${marker}`),
      files: system.includes('notes/plan.md') && plan.includes(`plan ${marker}`),
      'auto-memory': system.includes(`learnt ${marker}`),
      conversation: isInMessages(request, `I am ${marker}`),
    };
  }

  const ALL = { 'CLAUDE.md': true, files: true, 'auto-memory': true, conversation: true };
  const NOTHING = { 'CLAUDE.md': false, files: false, 'auto-memory': false, conversation: false };
  const expected = [
    ['the container exits', ALL],
    ['Patchclaw restarts', ALL],
    ['the session expires', { ...ALL, conversation: false }],
    ['the owner says /reset', { ...ALL, conversation: false }],
    ['the chat is unregistered and comes back', ALL],
    ['the group is deleted', NOTHING],
  ] as const;
  const happenings: Record<(typeof expected)[number][0], () => Promise<unknown>> = {
    'the container exits': () => call('shell', { command: 'kill -9 $PPID' }),
    async 'Patchclaw restarts'() {
      await assistant.stop();
      await start();
    },
    async 'the session expires'() {
      clock.pass(DAY_MS + 60_000);
    },
    'the owner says /reset': () => command('/reset Family'),
    async 'the chat is unregistered and comes back'() {
      await command('/unregister Family');
      await command('/register Family');
    },
    async 'the group is deleted'() {
      await command('/unregister Family delete');
      await command('yes');
      await command('/register Family as kin');
    },
  };

  test.for(expected)('when %s', async ([what, layers]) => {
    const marker = `marker${expected.findIndex(([each]) => each === what)}`;
    await fill(marker);
    expect(await layersWith(marker)).toEqual(ALL);
    await happenings[what]();
    expect(await layersWith(marker)).toEqual(layers);
  });

  test('a new conversation is told of the old one, which can be searched', async () => {
    await fill('marker8');
    await ask('how are you?');
    const hint = 'A new conversation begins here';
    expect(isInMessages(project.server.requests.at(-1), hint)).toBe(false);
    clock.pass(2 * DAY_MS);
    await ask('good morning');
    expect(isInMessages(project.server.requests.at(-1), hint)).toBe(true);
    expect(isInMessages(project.server.requests.at(-1), 'I am marker8')).toBe(false);
    const transcripts = join(project.dataDir, 'sessions/kin/.claude/sessions');
    expect(filesWith(transcripts, 'I am marker8')).toHaveLength(1);
    const found = await call('search_history', { query: '"I am marker8"' });
    expect(found).toMatch(/^\[\w{3} \d+ Nov 2026, 12:\d\d\] Ada: @Andy I am marker8$/m);
  });

  test('no byte of a deleted group is left', async () => {
    await fill('marker9');
    const notes = join(project.dataDir, 'of-chats/kin');
    mkdirSync(notes, { recursive: true });
    writeFileSync(join(notes, 'note-of-a-skill.txt'), 'marker9');
    const task = { prompt: 'say marker9', kind: 'every', schedule: '1h' };
    expect(await call('schedule_task', task)).toContain('Task ');
    clock.pass(3_600_000);
    await vi.waitFor(() => expect(assistant.store.taskRuns.last(1, 1)).toHaveLength(1));
    await call('search_history', { query: 'marker9' });
    const places = [project.dataDir, join(project.dir, 'groups')];
    expect(places.flatMap((place) => filesWith(place, 'marker9')).length).toBeGreaterThan(4);
    expect(await command('/unregister Family delete')).toContain('Say yes or no');
    await command('yes');
    expect(places.flatMap((place) => filesWith(place, 'marker9'))).toEqual([]);
    expect(existsSync(join(project.dir, 'groups/kin'))).toBe(false);
    expect(existsSync(join(project.dataDir, 'sessions/kin'))).toBe(false);
  });
});

function isInMessages(request: AnthropicRequest | undefined, text: string): boolean {
  return JSON.stringify(request?.body.messages).includes(text);
}

/** The files below a folder that have a text somewhere in their bytes. */
function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}
