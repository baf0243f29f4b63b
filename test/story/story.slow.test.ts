import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../../src/testing/engine.ts';
import {
  type AnthropicServer,
  lastUserText,
  startAnthropicServer,
} from '../../src/testing/model/anthropic.ts';
import { Assistant } from './assistant.ts';
import { endAtFirstFailure } from './chapters.ts';
import { type Clone, cloneAgain, cloneRepository, type Snapshot } from './clone.ts';
import { containersOf } from './containers.ts';
import {
  ADA,
  directChat,
  EVE,
  echoOrShell,
  startTelegram,
  type TelegramServer,
} from './far-ends.ts';

const LOOK_AROUND = 'shell: id -u; hostname; ls -d /workspace/group; ls /sys/class/net';

await describeWithEngine('docker', 'the whole story, on Docker', () => {
  endAtFirstFailure();
  let model: AnthropicServer;
  let telegram: TelegramServer;
  let clone: Clone;
  let assistant: Assistant;
  let before: Snapshot;
  let withTelegram: { readonly code: Snapshot; readonly state: Snapshot };

  beforeAll(async () => {
    model = await startAnthropicServer(echoOrShell);
    const { server, settings } = await startTelegram();
    telegram = server;
    clone = cloneRepository({
      ANTHROPIC_API_KEY: 'sk-ant-test',
      ANTHROPIC_BASE_URL: model.url,
      CLAW_SANDBOX: 'docker',
      ...settings,
    });
    before = clone.code();
    assistant = await Assistant.start(clone);
  });

  afterAll(async () => {
    await assistant?.stop();
    await clone?.[Symbol.asyncDispose]();
    await telegram?.[Symbol.asyncDispose]();
    await model?.close();
  });

  test('a message typed in the terminal is answered by an agent in a container', async () => {
    const answer = await assistant.ask(LOOK_AROUND);
    const [container] = await containersOf(clone.root);
    expect(answer).toContain(`1000\n${container?.id.slice(0, 12)}\n/workspace/group\nlo`);
  });

  test('/add-telegram shows three lines and asks, and yes brings the channel up, losing no input', async () => {
    const plan = await assistant.ask('/add-telegram');
    expect(plan).toMatch(
      /^telegram \d+\.\d+\.\d+ brings:\n- files: .*\n- packages: grammy@.*\n- settings: TELEGRAM_.*\n\nAdd it\? Say yes or no\.$/,
    );
    expect(telegram.calls).toEqual([]);

    const from = assistant.stdout.length;
    assistant.say('yes');
    await assistant.until(() => assistant.stdout.slice(from).includes('Publish'));
    const said: string[] = [];
    // One assistant ends and another one starts, which begins by asking Telegram who it is.
    const isUp = () => telegram.calls.some(({ method }) => method === 'getMe');
    while (!isUp() && said.length < 100) {
      said.push(`line ${said.length + 1} of those in between`);
      assistant.say(said.at(-1) ?? '');
      await delay(100);
    }
    await assistant.until(() => assistant.stdout.includes(`Heard: ${said.at(-1)}`));
    const told = await assistant.untilPrompt(from);
    for (const step of ['npm install', 'check: tsc', 'test: telegram', 'Publish']) {
      expect(told).toContain(step);
    }
    expect(told).toMatch(
      /telegram \d+\.\d+\.\d+ is in: \d+ files changed\.\n\nChannel telegram: connected\./,
    );
    const heard = told.match(/^Heard: .*$/gm);
    expect(heard).toEqual(said.map((line) => `Heard: ${line}`));
    withTelegram = { code: clone.code(), state: clone.state() };
  });

  test('Ada gets answers on Telegram out of a container, a stranger gets nothing, the terminal still works', async () => {
    telegram.sendText(EVE, directChat(EVE), 'shell: cat /workspace/project/.env');
    telegram.sendText(ADA, directChat(ADA), LOOK_AROUND);
    await telegram.until(() => telegram.sent.length > 0);
    const names = (await containersOf(clone.root)).map(({ id }) => id.slice(0, 12));
    expect(names).toHaveLength(2);
    const [answer] = telegram.sent;
    expect(answer?.chatId).toBe(ADA.id);
    const [, hostname = ''] = /1000\n(\w+)\n\/workspace\/group\nlo/.exec(answer?.text ?? '') ?? [];
    expect(names).toContain(hostname);

    expect(await assistant.ask('still there?')).toBe('Heard: still there?');
    expect(telegram.pending).toEqual([]);
    expect(telegram.sent.map(({ chatId }) => chatId)).toEqual([ADA.id]);
    expect(model.requests.some((request) => lastUserText(request).includes('.env'))).toBe(false);
  });

  test('/remove-telegram brings every byte back, and Telegram goes silent', async () => {
    expect(await assistant.ask('/remove-telegram')).toMatch(/telegram is out: \d+ files changed\./);
    // The folder of a chat belongs to that chat, whoever carries its messages.
    expect(clone.has(`groups/telegram-${ADA.id}/CLAUDE.md`)).toBe(true);
    expect(clone.code()).toEqual(before);
    expect(clone.git('diff', 'HEAD')).toBe('');
    const untracked = clone.git('ls-files', '--others', '--exclude-standard').trim().split('\n');
    expect(untracked.filter((path) => !path.startsWith('.claw/'))).toEqual([]);

    const calls = telegram.calls.length;
    telegram.sendText(ADA, directChat(ADA), 'are you there?');
    expect(await assistant.ask('and you?')).toBe('Heard: and you?');
    expect(telegram.calls).toHaveLength(calls);
    expect(telegram.sent).toHaveLength(1);
  });

  test('added again it is the same tree, and what was said meanwhile is answered', async () => {
    await assistant.ask('/add-telegram');
    await assistant.ask('yes');
    await telegram.until(() => telegram.sent.length > 1);
    expect(telegram.sent[1]?.text).toContain('are you there?');
    expect(clone.code()).toMatchObject(withTelegram.code);
    expect(untimed(clone.state())).toEqual(untimed(withTelegram.state));
    expect(await assistant.end()).toBe(0);
    expect(await containersOf(clone.root)).toEqual([]);
  });

  test('replay on another clone gives the same tree from state.yaml, package-lock.json included', async () => {
    await using second = cloneAgain(clone);
    second.write(Object.fromEntries(Object.entries(clone.state()).flatMap(committed)));
    expect(second.code()).toEqual(before);
    expect(await second.claw('replay', '--proof', 'skills')).toMatchObject({
      code: 0,
      json: { warnings: [] },
    });
    expect(second.code()).toEqual(withTelegram.code);
    expect(second.state()).toEqual(clone.state());
  });
});

await describeWithEngine('bubblewrap', 'the terminal, where there is only bubblewrap', () => {
  test('a message is answered by an agent that sees neither network nor project', async () => {
    const model = await startAnthropicServer(echoOrShell);
    await using _model = { [Symbol.asyncDispose]: () => model.close() };
    await using clone = cloneRepository({
      ANTHROPIC_API_KEY: 'sk-ant-test',
      ANTHROPIC_BASE_URL: model.url,
      CLAW_SANDBOX: 'bubblewrap',
    });
    await using assistant = await Assistant.start(clone);
    const command = `shell: id -u; ls /sys/class/net 2>&1; cat ${clone.path('.env')} 2>&1`;
    const answer = await assistant.ask(command);
    expect(answer).toMatch(/^1000\n/);
    expect(answer).not.toContain('eth0');
    expect(answer).not.toContain('sk-ant-test');
    expect(await assistant.end()).toBe(0);
  });
});

/** A file of a snapshot as it can be written; folders come with their files. */
function committed([path, text]: [string, string]): [string, Buffer][] {
  return path.endsWith('/') ? [] : [[`.claw/${path}`, Buffer.from(text, 'latin1')]];
}

/** Returns the contents of `.claw` without times of installation. */
function untimed(state: Snapshot): Snapshot {
  const text = state['state.yaml']?.replace(/^( +installed:) .*$/gm, '$1') ?? '';
  return { ...state, 'state.yaml': text };
}
